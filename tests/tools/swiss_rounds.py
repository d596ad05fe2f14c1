"""Compares the pairing of Swiss rounds with that of a program for FIDE's Dutch system.

    python -m tests.tools.swiss_rounds FILE...

Each FILE is a tournament report (TRF16) whose rounds such a program has paired, for instance those in
`test/tests` of bbpPairings, or one of its random generator's. For every round from the second on, our rule
pairs the players after the results that the file has of the rounds before. A forfeited game is no meeting, as
there, and who wins by forfeit or has a full bye has a point. Rounds from the first on in
which a player neither has an opponent nor a full bye are left out.

In the 13 rounds of 60 players of `issue_7` there, 188 of 390 pairs are the same as ours; in 143 of the 202
others both players would be due the same colour, and others follow from those. Differences in points between
those that meet add up to 53 in both.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.formats.swiss import next_round
from referee.tournament.formats.tie_breaks import Scores
from referee.tournament.schedule import encounter

FIRST_RESULT, WIDTH = 91, 10
"""Where the first result stands in the line of a player, and how far it is to the next."""

WORTH = {"1": 1.0, "+": 1.0, "U": 1.0, "F": 1.0, "=": 0.5, "H": 0.5, "0": 0.0, "-": 0.0, "Z": 0.0}
"""The points of each result."""


class Played(NamedTuple):
    """What a player did in a round."""

    opponent: str
    """Empty for a bye."""
    colour: str
    """`w`, `b`, or `-` where there was no game."""
    result: str


def players_of(text: str) -> dict[str, list[Played]]:
    """The rounds of all players, in the order of their starting numbers."""
    players = {}
    for line in text.splitlines():
        if line.startswith("001"):
            cells = (line[at : at + 8] for at in range(FIRST_RESULT, len(line), WIDTH))
            players[line[4:8].strip()] = [
                Played(cell[:4].strip().replace("0000", ""), cell[5:6], cell[7:8])
                for cell in cells
                if cell.strip()
            ]
    return players


def colour_due(played: Sequence[Played]) -> str:
    """The colour that a player should have next: the one that it had less often, else not the last one."""
    colours = [one.colour for one in played if one.opponent and one.result not in "+-"]
    if not colours:
        return ""
    white, black = colours.count("w"), colours.count("b")
    if white == black:
        return "w" if colours[-1] == "b" else "b"
    return "w" if white < black else "b"


def add_round(scores: Scores, players: Mapping[str, Sequence[Played]], number: int) -> None:
    """Adds a round of a file, with each game twice, as in an encounter."""
    encounters, games, bye = [], {}, None
    for player, rounds in players.items():
        one = rounds[number]
        if not one.opponent:
            bye = player
        elif int(player) < int(one.opponent):
            encounters.append(encounter(number + 1, (player, one.opponent)))
            other = players[one.opponent][number]
            won = WORTH[one.result] - WORTH[other.result]
            for pairing in encounters[-1].games:
                first = won if pairing.bots[0] == player else -won
                games[pairing.id] = summary(pairing, first)
            if one.result in "+-":
                scores.meetings[player, one.opponent] -= 1
                scores.meetings[one.opponent, player] -= 1
    scores.add(encounters, bye, games)


def summary(pairing: Pairing, won: float) -> Summary:
    """The summary of a game that the first bot won (above 0) or lost (below 0)."""
    ranks = (1, 1) if not won else (1, 2) if won > 0 else (2, 1)
    return Summary(pairing.id, 1, "", pairing.bots, ranks, ranks, "rules", "", True, ("", ""))


class Comparison:
    """Counts the pairs of some rounds."""

    def __init__(self) -> None:
        self.rounds = self.pairs = self.same = self.one_colour = 0
        self.gaps = {"theirs": 0.0, "ours": 0.0}
        """The differences in points of those that meet, added up."""

    def add(self, scores: Scores, players: Mapping[str, Sequence[Played]], number: int) -> None:
        """Pairs a round, and compares it."""
        pairs, _ = next_round(scores, float_history=True)
        ours = {frozenset(pair) for pair in pairs}
        theirs = {
            frozenset((player, rounds[number].opponent))
            for player, rounds in players.items()
            if rounds[number].opponent
        }
        due = {player: colour_due(rounds[:number]) for player, rounds in players.items()}
        self.rounds += 1
        self.pairs += len(theirs)
        self.same += len(ours & theirs)
        self.one_colour += sum(len({due[player] for player in pair}) == 1 for pair in ours - theirs)
        for whose, some in (("theirs", theirs), ("ours", ours)):
            for one, other in some:
                self.gaps[whose] += abs(scores.points[one] - scores.points[other]) / 2

    def text(self) -> str:
        other = self.pairs - self.same
        return (
            f"{self.rounds} rounds, {self.pairs} pairs: {self.same} the same; of the {other} others of ours, "
            f"in {self.one_colour} both players are due the same colour; differences in points "
            f"{self.gaps['ours']:g}, theirs {self.gaps['theirs']:g}"
        )


def compared(text: str) -> Comparison:
    """Compares the rounds of a file."""
    players = players_of(text)
    numbers = sorted(players, key=int)
    found, scores = Comparison(), Scores(numbers)
    for number in range(min(map(len, players.values()))):
        byes = [rounds[number] for rounds in players.values() if not rounds[number].opponent]
        if len(byes) > len(players) % 2 or any(one.result not in "U+" for one in byes):
            break  # what follows is no round of all players
        if number:
            found.add(scores, players, number)
        add_round(scores, players, number)
    return found


def main() -> None:
    for name in sys.argv[1:]:
        print(f"{Path(name).name}: {compared(Path(name).read_text()).text()}")


if __name__ == "__main__":
    main()
