"""Compares the machines of a cluster: what differs, and how much clocks are scaled on each. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from referee.core.errors import EnvironmentLacksError
from referee.core.fields import Fields
from referee.core.isolation import LEVELS
from referee.core.text import counted, listed, shown
from referee.machine.calibration import Rates, Speed
from referee.machine.doctor import Finding, Severity

UNLIKE_PERCENT = 20
"""Machines are too unlike for the same clock if one is slower than the fastest by more than this."""

UNLIKE_PYTHON_PERCENT = 40
"""Beside compiled code, Python of one version may be slower by this much: processors differ in that, too."""

ALIKE_PERCENT = 5
"""Clocks are not scaled by this little: the speed that is measured again differs by as much."""

MIN_CLOCK_PERCENT = 50
MAX_CLOCK_PERCENT = 400
"""The bounds of scaled clocks: a machine that would need others is too unlike to be used."""

FREE_PERCENT = 90
"""Programs that get less than this much of a core each share it with others."""

MAX_NAMED = 8
"""How many machines a text names; of more, the rest is counted."""

_MAX_TEXT = 1000


class MeasuredMachine(NamedTuple):
    """The measurements of a machine of a cluster."""

    address: str
    """Where its Dask workers are."""
    name: str
    cpu: str
    python: str
    referee: str
    """The version of the referee there."""
    cores: int
    slots: int
    """Games at a time: the threads of its Dask workers."""
    speed: Speed | None
    slow_us: int | None
    """The overhead of a slow move (p99.9)."""
    isolation: tuple[str, ...]
    """The levels of isolation that work, the strongest last."""
    pinning: bool
    warnings: tuple[Finding, ...]
    """What `doctor` warns of there, and what the machine lacks."""
    can_play: bool
    """Whether a tournament can be run there."""

    @property
    def label(self) -> str:
        """The label of the machine: several machines can have the same name."""
        return f"{self.name} ({self.address})"


class UnmeasuredMachine(NamedTuple):
    """A machine of a cluster that could not be measured."""

    address: str
    slots: int
    why: str


def clock_percent(reference: int, speed: int) -> int:
    """The clocks of a machine of this speed, in hundredths of those of a machine of the speed `reference`:
    the slower it is, the longer they are. Both speeds are `Speed.together.native`.

    Raises `EnvironmentLacksError` where the machine is too fast or too slow for that.
    """
    percent = round(100 * reference / max(1, speed))
    if not MIN_CLOCK_PERCENT <= percent <= MAX_CLOCK_PERCENT:
        raise EnvironmentLacksError(
            f"because of its speed, its clocks would have to be {percent} % of those of the first machine, "
            f"expected {MIN_CLOCK_PERCENT} to {MAX_CLOCK_PERCENT} %"
        )
    return 100 if abs(percent - 100) <= ALIKE_PERCENT else percent


def shares_of_fastest(machines: Iterable[MeasuredMachine]) -> dict[str, int]:
    """The speeds that are known, by the address of the machine, in hundredths of that of the fastest."""
    speeds = {machine.address: machine.speed.together.native for machine in machines if machine.speed}
    return {address: round(100 * speed / max(speeds.values())) for address, speed in speeds.items()}


# --- What a machine reported ------------------------------------------------------------------------------


def read_report(address: str, slots: int, report: Any) -> MeasuredMachine:
    """A machine of a cluster, from what `referee doctor --json` printed there. All texts are escaped.

    Raises `EnvironmentLacksError` where the report has another form.
    """
    fields = Fields(report, "", EnvironmentLacksError)
    figures = fields.object("figures")
    machine = figures.object("machine")
    speed = figures.object("speed") if figures.value("speed") is not None else None
    moves = figures.object("moves") if figures.value("moves") is not None else None
    lacks = figures.object("isolation")
    return MeasuredMachine(
        address=address,
        name=_text(machine, "name"),
        cpu=_text(machine, "cpu"),
        python=_text(machine, "python"),
        referee=_text(fields, "referee"),
        cores=machine.number("cores"),
        slots=slots,
        speed=Speed(_rates(speed.object("alone")), _rates(speed.object("together"))) if speed else None,
        slow_us=moves.number("p999_us") if moves else None,
        isolation=tuple(level for level in LEVELS if lacks.has(level) and not lacks.text(level)),
        pinning=machine.object("abilities").flag("pinning"),
        warnings=tuple(_warnings(fields)),
        can_play=fields.flag("can_run"),
    )


def _rates(fields: Fields) -> Rates:
    return Rates(*(fields.number(name, 1) for name in Rates._fields))


def _warnings(fields: Fields) -> Iterator[Finding]:
    serious = {level.value: level for level in Severity if level is not Severity.FINE}
    for found in fields.objects("findings"):
        level = serious.get(found.text("level"))
        if level and found.text("about") != "disk":  # records are written where the referee runs
            measured, meaning, advice = (_text(found, name) for name in ("measured", "meaning", "advice"))
            yield Finding(_text(found, "about"), level, measured, meaning, advice)


def _text(fields: Fields, name: str) -> str:
    return shown(fields.text(name), _MAX_TEXT)  # guard: reported-texts


# --- What differs -----------------------------------------------------------------------------------------


def compare(machines: Sequence[MeasuredMachine | UnmeasuredMachine], version: str) -> tuple[Finding, ...]:
    """Lists the differences between the machines, and from a referee of this version."""
    measured = [machine for machine in machines if isinstance(machine, MeasuredMachine)]
    missing = [machine for machine in machines if isinstance(machine, UnmeasuredMachine)]
    return (
        *map(_missing, missing),
        *_versions(measured, version),
        *_speeds(measured),
        *_pythons(measured),
        *_builds(measured),
        *_busy(measured),
        *_isolation(measured),
        *_pinning(measured),
    )


def _missing(machine: UnmeasuredMachine) -> Finding:
    return Finding(
        "missing",
        Severity.WARNING,
        f"`{machine.address}` was not measured",
        machine.why,
    )


def _versions(machines: Sequence[MeasuredMachine], version: str) -> Iterator[Finding]:
    others = [machine for machine in machines if machine.referee != version]
    if others:
        yield Finding(
            "referee",
            Severity.WARNING,
            f"this is version {version}; {_named(f'`{one.label}` has {one.referee}' for one in others)}",
            "machines with a different version would be refused",
            "install this version, with the extra `cluster`, on those machines",
        )


def _speeds(machines: Sequence[MeasuredMachine]) -> Iterator[Finding]:
    shares = shares_of_fastest(machines)
    if len(shares) < 2:
        return
    slow = [one for one in machines if shares.get(one.address, 100) < 100 - UNLIKE_PERCENT]
    if not slow:
        yield Finding(
            "speed",
            Severity.FINE,
            f"the slowest machine has {min(shares.values())} % of the speed of the fastest",
            "similar enough to use the same clocks (measured with compiled code, with all games running at "
            "once)",
        )
        return
    fastest = next(machine for machine in machines if shares.get(machine.address) == 100)
    yield Finding(
        "speed",
        Severity.WARNING,
        f"of the speed of `{fastest.label}`, "
        f"{_named(f'`{one.label}` has {shares[one.address]} %' for one in slow)}",
        "a bot can compute less there with the same clock; only the games of an encounter "
        "are always played on the same machine",
        "set `scale_clocks = true`, or leave out the machines that differ from the others",
    )


def _pythons(machines: Sequence[MeasuredMachine]) -> Iterator[Finding]:
    versions = _grouped((machine.python, machine) for machine in machines)
    if len(versions) > 1:
        yield Finding(
            "python",
            Severity.WARNING,
            "; ".join(f"{version} on {_labels(those)}" for version, those in versions.items()),
            "the speed of bots in Python depends on the version, and scaled "
            "clocks do not compensate for that",
            "use the same version of Python on all machines",
        )


def _builds(machines: Sequence[MeasuredMachine]) -> Iterator[Finding]:
    """Compares only like with like: Python of one version, beside compiled code on the same machine."""
    for version, those in _grouped((machine.python, machine) for machine in machines).items():
        ratios = {
            one.address: one.speed.together.python / one.speed.together.native for one in those if one.speed
        }
        least = max(ratios.values(), default=0) * (100 - UNLIKE_PYTHON_PERCENT) / 100
        if slow := [one for one in those if ratios.get(one.address, least) < least]:
            yield Finding(
                "python",
                Severity.WARNING,
                f"compared with compiled code, {version} is slower on {_labels(slow)} than on others",
                "it may have been built without optimisation; scaled clocks do not compensate for that",
                "use the same build of Python on all machines",
            )


def _busy(machines: Sequence[MeasuredMachine]) -> Iterator[Finding]:
    shares = [(one, one.speed.together.share_percent) for one in machines if one.speed]
    busy = [f"{share} % of a core on `{one.label}`" for one, share in shares if share < FREE_PERCENT]
    if busy:
        yield Finding(
            "load",
            Severity.WARNING,
            f"with all games running at once, each program gets {_named(busy)}",
            "bots wait for a core while their clocks run, and the measured speeds are less precise",
            "start the Dask workers there with fewer threads (`--nthreads`), or stop other programs",
        )


def _isolation(machines: Sequence[MeasuredMachine]) -> Iterator[Finding]:
    levels = _grouped(((machine.isolation or ("none",))[-1], machine) for machine in machines)
    if len(levels) > 1:
        yield Finding(
            "isolation",
            Severity.WARNING,
            "; ".join(f"`{level}` on {_labels(those)}" for level, those in levels.items()),
            "this is the strongest level that works there: with `auto`, not all "
            "bots are isolated in the same way",
            "choose a level that works on all machines, or leave out some machines",
        )


def _pinning(machines: Sequence[MeasuredMachine]) -> Iterator[Finding]:
    without = [machine for machine in machines if not machine.pinning]
    if 0 < len(without) < len(machines):
        yield Finding(
            "pinning",
            Severity.WARNING,
            f"games cannot be pinned to cores on {_labels(without)}",
            "`pin = true` requires it on all machines",
            "leave these machines out, or do not pin",
        )


def _grouped(pairs: Iterable[tuple[str, MeasuredMachine]]) -> dict[str, list[MeasuredMachine]]:
    groups: dict[str, list[MeasuredMachine]] = {}
    for key, machine in pairs:
        groups.setdefault(key, []).append(machine)
    return groups


def _labels(machines: Iterable[MeasuredMachine]) -> str:
    return _named(f"`{machine.label}`" for machine in machines)


def _named(texts: Iterable[str]) -> str:
    """Texts about machines as a list, the first of them if there are many."""
    every = [*texts]
    rest = len(every) - MAX_NAMED
    return listed([*every[:MAX_NAMED], f"{counted(rest, 'other')}"] if rest > 0 else every)
