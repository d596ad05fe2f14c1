"""What differs in a run from its tournament file: bots that are left out since they could not be built or
started, bots that are out, games that are annulled or played again, new names. Pure.

All of it stands in lines of the records, so a run that is continued, and every later table, agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.pairing import BOT_NAME, Pairing
from referee.core.text import shown
from referee.records.record import FORFEITS, Summary

THEN = {
    "forfeit": "it forfeits its remaining games",
    "annul": "none of its games counts",
    "keep": "its remaining games are not played",
}
"""What may become of the games of a bot that is out, with a sentence."""

MEMBERS = ("out", "annulled", "renamed", "replayed")
"""The members of a `change` line that amend a run; each is an object by bot or by game."""

REASON_CAP = 200  # maximum number of characters of a reason for an amendment


@dataclass(frozen=True, slots=True)
class Strikes:
    """The number of faults after which a bot is out."""

    faults: int
    games: str = "forfeit"  # what becomes of its games; a key of `THEN`

    def header(self) -> dict[str, Any]:
        """The member for the header of a run."""
        return {"strikes": asdict(self)}


def strikes_of(fields: Fields) -> Strikes | None:
    """The strikes of the table `[tournament]` of a tournament file, or of the header of a run: a number of
    faults, or an object that also says what becomes of the games. Raises the error of `fields`.
    """
    if not fields.has("strikes"):
        return None
    if isinstance(fields.value("strikes"), int):
        return Strikes(fields.number("strikes", 1, 1_000_000))
    table = fields.object("strikes", "a number or a table")
    table.only("faults", "games")
    games = table.one_of("games", THEN, "forfeit")
    return Strikes(table.number("faults", 1, 1_000_000), games)


def at_fault(game: Summary) -> list[str]:
    """The bots that committed a fault in a game which was not just forfeited."""
    return [name for name, word in zip(game.bots, game.faults, strict=True) if word and word not in FORFEITS]


@dataclass(frozen=True)
class Amendments:
    """The amendments of a run so far."""

    out: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """By bot: `games`, a key of `THEN`, and the `reason`."""
    annulled: Mapping[str, str] = field(default_factory=dict)  # by the id of a game, the reason
    renamed: Mapping[str, str] = field(default_factory=dict)
    """By the name of a bot in the tournament, the name that tables show."""
    replayed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """By the id of a game that is played again: the last `attempt` that counts no more, and the `reason`."""

    @property
    def drops_any(self) -> bool:
        """Whether there may be games that are not to be played any more, nor forfeited."""
        return bool(self.annulled) or any(what["games"] != "forfeit" for what in self.out.values())

    @property
    def annuls_any(self) -> bool:
        """Whether there may be games that were played and do not count."""
        return bool(self.annulled) or any(what["games"] == "annul" for what in self.out.values())

    def annuls(self, game: Summary) -> bool:
        """Whether a game that was played does not count."""
        if not self.out and not self.annulled:
            return False
        return game.id in self.annulled or any(
            name in self.out and self.out[name]["games"] == "annul" for name in game.bots
        )

    def is_dropped(self, game: Pairing) -> bool:
        """Whether a game is not to be played any more, nor forfeited."""
        return game.id in self.annulled or any(
            name in self.out and self.out[name]["games"] != "forfeit" for name in game.bots
        )

    def forfeiting(self, bots: Collection[str]) -> frozenset[str]:
        """Returns which of these bots forfeit their games."""
        return frozenset(name for name in bots if self.out.get(name, {}).get("games") == "forfeit")

    def attempts_before(self, game: str) -> int:
        """Counts the attempts at a game that no longer count, since it is to be played again."""
        attempts: int = self.replayed.get(game, {}).get("attempt", 0)
        return attempts

    def shown(self, name: str) -> str:
        """The name of a bot in tables."""
        return self.renamed.get(name, name)


def check_amendments(change: Mapping[str, Any], bots: Collection[str]) -> None:
    """Raises `RecordError` where a `change` line has wrong amendments; `bots` are those of the run."""
    fields = Fields(dict(change), "", RecordError)
    if fields.has("out"):
        table = fields.object("out")
        for name in table.names():
            table.object(name).only("games", "reason")
            if name not in bots or table.object(name).text("games") not in THEN:
                raise fields.wrong(
                    "out", "bots of this run, each with `games` as `forfeit`, `annul` or `keep`"
                )
            table.object(name).text("reason")
    if fields.has("annulled"):
        fields.scalars("annulled")
    if fields.has("replayed"):
        table = fields.object("replayed")
        for name in table.names():
            table.object(name).number("attempt", 1)
            table.object(name).text("reason")
    if fields.has("renamed"):
        table = fields.object("renamed")
        for name in table.names():
            if name not in bots or not BOT_NAME.fullmatch(table.text(name)):
                raise fields.wrong("renamed", "bots of this run, each with a valid new name")


LEFT_OUT = "left_out"
"""The member of a header or a `change` line that has the bots that are left out from then on."""

OUTPUT_CAP = 300  # maximum number of characters of a reason, and of a line of output

OUTPUT_LINES = 10  # maximum number of lines of output that are kept


class LeftOut(NamedTuple):
    """A bot that does not play, while the others do."""

    bot: str
    reason: str
    output: tuple[str, ...] = ()  # the last lines that its build printed
    is_fault: bool = True
    """Whether something is wrong with the bot: not where the machine lacks a program that it `needs`."""

    @property
    def text(self) -> str:
        """The line that reports it."""
        return f"bot `{self.bot}` is left out: {self.reason}"

    @property
    def error(self) -> str:
        """The reason where it may not be left out."""
        return f"bot `{self.bot}`: {self.reason}"


def left_out_json(bots: Iterable[LeftOut]) -> dict[str, Any]:
    """The bots as the value of `LEFT_OUT`."""
    return {
        one.bot: {
            "reason": one.reason[:OUTPUT_CAP],
            **({"output": [line[:OUTPUT_CAP] for line in one.output[-OUTPUT_LINES:]]} if one.output else {}),
        }
        for one in bots
    }


def check_left_out(fields: Fields) -> None:
    """Raises the error of `fields` where a header or a `change` line has a wrong `LEFT_OUT`."""
    if not fields.has(LEFT_OUT):
        return
    bots = fields.object(LEFT_OUT)
    for name in bots.names():
        what = bots.object(name)
        texts = (what.text("reason"), *(what.texts("output") if what.has("output") else ()))
        is_safe = all(len(text) <= OUTPUT_CAP and shown(text, OUTPUT_CAP) == text for text in texts)
        if not BOT_NAME.fullmatch(name) or len(texts) > 1 + OUTPUT_LINES or not is_safe:
            raise fields.wrong(LEFT_OUT, "names of bots, each with a reason and the last lines of its output")
