"""What is seen of a run with an attack, and how its success is judged.

Success is judged by what is seen outside of the bots: a secret that the attacker could name, a victim that
lost or was changed, a token that arrived where it should not. Only where an attack has no effect but for the
right to do something, its own word is taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum


class Outcome(StrEnum):
    """What came of an attack."""

    STOPPED = "stopped"
    NOTICED = "noticed"
    """It did harm, and the run ended with an error that says so."""
    SUCCEEDS = "succeeds"
    HANGS = "hangs"
    """The run did not end."""
    NOT_TRIED = "not tried"
    UNCLEAR = "unclear"
    """The attacker did not come so far as to try: a fault of the test."""


class Area(StrEnum):
    """What an attack is directed at."""

    OPPONENT = "opponent"
    REFEREE = "referee"
    RESULTS = "results"
    HIDDEN = "hidden information"
    NETWORK = "network"
    CHANNEL = "channel to others"
    USER = "user's files"
    TERMINAL = "terminal"
    MACHINE = "machine"
    RESOURCES = "resources"


@dataclass(slots=True)
class Seen:
    """What was seen of a run with an attack."""

    code: int | None = None
    """How the referee exited; None where it did not and was killed."""
    output: str = ""
    report: str | None = None
    """What the attacker reported; None where it did not come so far."""
    secrets: dict[str, str] = field(default_factory=dict)
    """The secrets that the attacker has no right to know, by where they are kept."""
    received: set[str] = field(default_factory=set)
    """Where the attacker's token arrived."""
    survivors: int = 0
    """Processes of the attacker that outlived the referee."""
    intact: bool = False
    """Whether the records verify and the victim has won both games in them."""
    losses: str = ""
    """The faults by which the victim lost, and what was done to it."""


Judge = Callable[[Seen], Outcome]


def outcome(succeeds: bool) -> Outcome:
    return Outcome.SUCCEEDS if succeeds else Outcome.STOPPED


def reads(secret: str) -> Judge:
    """The attacker reported the secret that is kept there."""
    return lambda seen: outcome(
        bool(seen.secrets.get(secret)) and seen.secrets[secret] in (seen.report or "")
    )


def arrives(where: str) -> Judge:
    """The token arrived."""
    return lambda seen: outcome(where in seen.received)


def harms_victim(seen: Seen) -> Outcome:
    """The victim lost, or something about its process was changed."""
    if seen.code is None:
        return Outcome.HANGS
    return Outcome.NOTICED if seen.code and not seen.losses else outcome(bool(seen.losses))


def harms_run(seen: Seen) -> Outcome:
    """The run hangs, fails, or has other results than it should."""
    if seen.code is None:
        return Outcome.HANGS
    if seen.code != 0:
        return Outcome.NOTICED
    return outcome(not seen.intact or bool(seen.losses))


def outlives(seen: Seen) -> Outcome:
    """A process of the attacker is there when the referee is gone."""
    return outcome(seen.survivors > 0)


def by_its_word(seen: Seen) -> Outcome:
    """The attacker says that it was allowed to."""
    return outcome("ATTACK did" in (seen.report or ""))


def explodes(seen: Seen) -> Outcome:
    """The victim was harmed, or nothing stopped the attacker before the bound that it sets itself."""
    if seen.code is None:
        return Outcome.HANGS
    return outcome(bool(seen.losses) or not seen.intact or "ATTACK did" in (seen.report or ""))
