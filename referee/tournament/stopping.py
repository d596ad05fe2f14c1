"""When a tournament stops early: a sequential test is decided, or intervals are narrow enough. Pure.

A rule is fed the encounters of the longest finished prefix of the schedule, in the order of the schedule, and
decides on nothing else. So the order in which games end makes no difference, and a run that was stopped and
continued decides the same as one that was not.

The test (SPRT) is that of `referee.ratings.sprt`, on pairs of games with the seats swapped, between the two
bots of a match or between each challenger and each opponent of a gauntlet. A pair counts only if both its
games are rated, and neither was forfeited without being played. A game that repeats an earlier one, with the
same bots in the same seats, is no new evidence: a pair of two such games does not count, unless the bots are
known to draw at random (`repeats = "count"`).

Intervals are those of the table. They are looked at when the schedule goes on to a new round, as soon as
every bot has `MIN_GAMES` rated games, but only after this many new games that a fit is worth its time.
(Stopping at a fixed width is sound for many games: Y. S. Chow and H. Robbins, 1965; with very few, an
interval may be narrow by chance.)
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.text import shown, true_minus
from referee.games.api import share_beaten
from referee.ratings.pool import Result, fit
from referee.ratings.sprt import MODELS, SprtResult, bounds, llr
from referee.ratings.tally import clusters
from referee.records.record import Summary
from referee.tournament.schedule import Encounter

KEYS = ("sprt", "stop")  # the keys of a tournament file that belong to stopping rules

ERROR = 0.05  # the chance of either error of a test where none is given

MAX_ELO = {"logistic": 1000, "normalized": 100}
"""For each model, the bound on the absolute values of `elo0` and `elo1`."""

MIN_GAMES = 20  # how many rated games each bot has to have before the widths of intervals are believed

GROWTH = 1.05  # by which factor the number of games grows before the widths of intervals are looked at again

_NUMBER = re.compile(r"[+-]?[0-9]{1,6}(\.[0-9]{1,6})?")

_FORM = "`ELO0,ELO1[,ALPHA,BETA][,MODEL]`, such as `0,10` or `0,10,0.05,0.05,normalized`"


@dataclass(frozen=True, slots=True)
class Sprt:
    """The settings of a sequential probability ratio test."""

    elo0: float
    elo1: float
    alpha: float = ERROR
    beta: float = ERROR
    model: str = "logistic"  # one of `MODELS`

    @classmethod
    def parse(cls, text: str) -> Sprt:
        """The settings from a text. Raises `UsageError`."""
        *numbers, last = text.replace(" ", "").split(",")
        model = last if last in MODELS else "logistic"
        numbers += [] if last in MODELS else [last]
        if len(numbers) not in (2, 4) or not all(_NUMBER.fullmatch(number) for number in numbers):
            raise UsageError(f"`{shown(text, 80)}` is not a sequential test, expected {_FORM}")
        elo0, elo1, *errors = map(float, numbers)
        alpha, beta = errors or (ERROR, ERROR)
        return cls(elo0, elo1, alpha, beta, model).checked()

    def checked(self) -> Sprt:
        """These settings. Raises `UsageError` where they are not those of a test."""
        most = MAX_ELO[self.model]
        for name, value in (("elo0", self.elo0), ("elo1", self.elo1)):
            if not -most <= value <= most:
                raise UsageError(
                    f"`{name}` is {value:g}, expected {-most} to {most} with the model `{self.model}`"
                )
        if not self.elo0 < self.elo1:
            raise UsageError(f"`elo1` is {self.elo1:g}, expected more than `elo0`, which is {self.elo0:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 0.5:
                raise UsageError(f"`{name}` is {value:g}, expected more than 0 and less than 0.5")
        return self


@dataclass(frozen=True, slots=True)
class StoppingRule:
    """When a tournament stops before its schedule ends; without settings, never."""

    sprt: Sprt | None = None
    interval: float | None = None
    """The tournament stops when the 95 % interval of every bot is ± this many Elo or less."""

    def check(self, bots: int, seats: int, tested: Collection[tuple[str, str]] = ()) -> None:
        """Raises `UsageError` where the rule does not fit the tournament; `tested` are the bots that a test
        compares, each with which other.
        """
        if self.sprt and seats != 2:
            raise UsageError(f"`sprt` needs a game with 2 seats, but this one has {seats}")
        if self.sprt and not tested:
            raise UsageError(
                f"`sprt` compares two bots, or the bots of a gauntlet, but there are {bots} bots"
            )
        if self.interval and seats == 1:
            raise UsageError("`stop.interval` needs ratings, which games for one bot do not give")

    def header(self) -> dict[str, Any]:
        """The members for the header of a run; none without settings."""
        return {
            **({"sprt": asdict(self.sprt)} if self.sprt else {}),
            **({"stop": {"interval": self.interval}} if self.interval else {}),
        }


NEVER = StoppingRule()  # the schedule is played to its end


def stopping_rule_of(fields: Fields) -> StoppingRule:
    """The rule from the table `[tournament]` of a tournament file. Raises the error of `fields`, or
    `UsageError`.
    """
    return StoppingRule(
        _sprt(fields) if fields.has("sprt") else None, _interval(fields) if fields.has("stop") else None
    )


def stopping_rule_from_header(header: Mapping[str, Any]) -> StoppingRule:
    """The rule of a run from its header. Raises `RecordError`."""
    try:
        return stopping_rule_of(Fields(dict(header), "", RecordError))
    except UsageError as error:
        raise RecordError(str(error)) from None


def _sprt(fields: Fields) -> Sprt:
    is_text = isinstance(fields.value("sprt"), str)
    unchecked = None if is_text else _unchecked(fields.object("sprt", "a string or a table"))
    try:
        return unchecked.checked() if unchecked else Sprt.parse(fields.text("sprt"))
    except UsageError as error:
        raise UsageError(f"`{fields.at('sprt')}`: {error}") from None


def _unchecked(table: Fields) -> Sprt:
    table.only("elo0", "elo1", "alpha", "beta", "model")
    return Sprt(
        table.real("elo0"),
        table.real("elo1"),
        table.real("alpha", default=ERROR),
        table.real("beta", default=ERROR),
        table.one_of("model", MODELS, "logistic"),
    )


def _interval(fields: Fields) -> float:
    stop = fields.object("stop")
    stop.only("interval")
    interval = stop.real("interval")
    if not 1 <= interval <= 1000:
        raise stop.wrong("interval", "a number from 1 to 1000")
    return interval


class SequentialTest:
    """The test of one bot against another, as far as it has come."""

    def __init__(self, sprt: Sprt, one: str, other: str) -> None:
        self.one = one
        self.other = other
        self.counts = [0, 0, 0, 0, 0]  # how many pairs of games gave the one bot 0, ½, 1, 1½ and 2 points
        self.llr = 0.0
        self.accepted = ""  # `H0` or `H1` once the test is decided; else empty
        self._sprt = sprt

    @property
    def bounds(self) -> tuple[float, float]:
        """At which LLR H0 is accepted, and at which H1."""
        return bounds(self._sprt.alpha, self._sprt.beta)

    def add(self, points: float) -> None:
        """Counts a pair of games in which the first bot had this many points. A decided test is final."""
        if self.accepted:  # guard: decided-test
            return
        self.counts[round(2 * points)] += 1
        self.llr = llr(self.counts, self._sprt.elo0, self._sprt.elo1, self._sprt.model)
        low, high = self.bounds
        self.accepted = "H0" if self.llr <= low else "H1" if self.llr >= high else ""

    def __str__(self) -> str:
        low, high = self.bounds
        return true_minus(f"LLR {self.llr:+.2f} [{low:.2f}, {high:.2f}]")

    def result(self, section: str = "", shown: Callable[[str], str] = str) -> SprtResult:
        """The test as a value; `shown` gives the names of bots as tables show them."""
        sprt = self._sprt
        return SprtResult(
            section,
            shown(self.one),
            shown(self.other),
            sprt.elo0,
            sprt.elo1,
            sprt.alpha,
            sprt.beta,
            sprt.model,
            tuple(self.counts),
            self.llr,
            self.accepted,
        )


class Stopping:
    """The state of a stopping rule: it is fed encounters, and says whether the tournament stops."""

    def __init__(
        self,
        rule: StoppingRule,
        names: Sequence[str],
        tested: Collection[tuple[str, str]] = (),
        repeats: str = "cluster",
        out: Collection[str] = (),
    ) -> None:
        """`tested` are the bots that a test compares, each with which other; `repeats` says whether repeated
        games count, as in `clusters`. Intervals are those of the bots that are not `out`, from the games
        between them.
        """
        self.tests: dict[frozenset[str], SequentialTest] = {}  # the tests by the two bots that they compare
        if rule.sprt:
            for one, other in tested:
                self.tests[frozenset((one, other))] = SequentialTest(rule.sprt, one, other)
        self.widest: float | None = None
        """The widest interval of the last fit, as ± Elo; None before it, or where a bot has none, or won or
        lost all its games: no game bounds the strength of that one.
        """
        self._rule = rule
        self._repeats = repeats
        self._seen: set[tuple[str, tuple[str, ...], str]] = set()
        self._games: list[Summary] = []
        self._in = [name for name in names if name not in out]
        self._out = frozenset(out)
        self._rated: Counter[str] = Counter()
        self._shares: dict[str, set[float]] = {}
        """The different results of each bot, as shares of the opponents that it beat."""
        self._round = ("", 0)
        self._fitted = 0  # how many games the last fit had
        self._is_narrow = False

    def add(self, encounter: Encounter, games: Sequence[Summary]) -> None:
        """Takes the next encounter of the schedule, with the results of its games: without those that are
        over but have no result, or were annulled. Encounters that are skipped are not added.
        """
        if not self.tests and not self._rule.interval:
            return
        pairing = encounter.games[0]
        if (pairing.section, pairing.number) != self._round:
            self._end_round()
            self._round = pairing.section, pairing.number
        rated = [game for game in games if game.is_evidence]
        is_new = [self._is_new(game) for game in rated]
        test = self.tests.get(frozenset(pairing.bots))
        if test and len(rated) == 2 == len(encounter.games) and any(is_new):  # guard: repeats-in-a-test
            test.add(sum(share_beaten(game.ranks, game.bots.index(test.one)) for game in rated))
        if self._rule.interval:
            between = [game for game in rated if not set(game.bots) & self._out]
            self._games += between
            for game in between:
                for seat, name in enumerate(game.bots):
                    self._rated[name] += 1
                    self._shares.setdefault(name, set()).add(share_beaten(game.ranks, seat))

    @property
    def decision(self) -> str | None:
        """Why the tournament stops; None while it goes on."""
        if self._is_narrow:
            return f"every interval is ± {self._rule.interval:g} Elo or less"
        if not self.tests or not all(test.accepted for test in self.tests.values()):
            return None
        first, *others = self.tests.values()
        return f"{len(self.tests)} of {len(self.tests)} tests are decided" if others else str(first.result())

    def skips(self, encounter: Encounter) -> bool:
        """Whether the encounter is not played, since the test of its bots is decided."""
        test = self.tests.get(frozenset(encounter.games[0].bots))
        return test is not None and test.accepted != ""

    def progress(self) -> str:
        """Describes how far the rule has come, in a line for the live view; empty where there is no rule."""
        parts = []
        tests = list(self.tests.values())
        if len(tests) == 1:
            parts.append(f"{tests[0]}{f', {tests[0].accepted} accepted' if tests[0].accepted else ''}")
        elif tests:
            undecided = [test for test in tests if not test.accepted]
            parts.append(f"{len(tests) - len(undecided)} of {len(tests)} tests decided")
            if undecided:
                nearest = max(undecided, key=_closeness)
                parts.append(f"closest {nearest.one}–{nearest.other}: {nearest}")
        if self._rule.interval:
            widest = "" if self.widest is None else f"widest interval ± {self.widest:.0f}, "
            parts.append(f"{widest}stops at ± {self._rule.interval:g}")
        return "; ".join(parts)

    def _is_new(self, game: Summary) -> bool:
        """Whether the game adds evidence: no earlier one was the same, as far as the records can tell."""
        key = (Pairing.parse(game.id).section, game.bots, game.digest)
        is_new = self._repeats == "count" or not game.digest or key not in self._seen
        self._seen.add(key)
        return is_new

    def _end_round(self) -> None:
        """Looks at the intervals, where that is due."""
        if (
            not self._rule.interval
            or self._is_narrow
            or min((self._rated[name] for name in self._in), default=0) < MIN_GAMES
            or len(self._games) < GROWTH * self._fitted
        ):
            return
        self._fitted = len(self._games)
        of = clusters(self._games, self._repeats).of
        results = (
            Result(game.bots, game.ranks, cluster, Pairing.parse(game.id).section)
            for game, cluster in zip(self._games, of, strict=True)
        )
        widths = [
            None if self._shares[name] in ({0.0}, {1.0}) else rating.half_width
            for name, rating in fit(results, sorted(self._in)).ratings.items()
        ]
        known = [width for width in widths if width is not None]
        self.widest = max(known) if len(known) == len(widths) else None
        self._is_narrow = self.widest is not None and self.widest <= self._rule.interval


def _closeness(test: SequentialTest) -> float:
    """The share of the way to the bound that the LLR of a test is nearer to."""
    low, high = test.bounds
    return max(test.llr / low, test.llr / high)
