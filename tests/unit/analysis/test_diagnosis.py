"""Games that were not played, but could have been: each flaw is put into them and has to be found alone."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from referee.analysis.diagnosis import Diagnosis, diagnosis
from referee.analysis.kinds import Blunder, SeatDecisions
from referee.analysis.played import DiagnosedGame, SeatPlay, seat_plays
from referee.analysis.significance import Count, fisher
from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.records.record import Summary

MINE, OTHER = "mine", "other"

BLUNDER = Blunder(7, "A1", "B1", is_proved=True, was_won=True, kinds=frozenset())


def summary(number: int, seat: int, winner: int, ending: str, faults: tuple[str, ...] = ("", "")) -> Summary:
    bots = (MINE, OTHER) if seat == 0 else (OTHER, MINE)
    pairing = Pairing.of(number // 2 + 1, bots)
    ranks = (1, 2) if winner == 0 else (2, 1)
    return Summary(
        pairing.id, 1, "blooms", bots, ranks, (0, 0), ending, "", True, faults, digest=f"digest {number}"
    )


Flaw = Callable[[Random, int], tuple[bool, str]]
"""Whether the bot wins a game in which it has this seat, and with which fault it loses it, if any."""


def games(count: int, seed: object, flaw: Flaw, slow_from: int = 1000) -> list[DiagnosedGame]:
    """Games in pairs with the seats swapped; the bot's moves from `slow_from` on take long."""
    random = Random(f"{seed}")
    found = []
    for number in range(count):
        seat = number % 2
        wins, fault = flaw(random, seat)
        moves = random.randint(20, 34)

        def play(slow: int, left: str, moves: int = moves) -> SeatPlay:
            times = [round(random.lognormvariate(9, 0.3)) for _ in range(moves // 2)]
            times[slow - 1 :] = [us + 120_000 for us in times[slow - 1 :]]
            return SeatPlay(tuple(times), left, len(times) if left else 0)

        plays = [play(1000, ""), play(1000, "")]
        plays[seat] = play(slow_from, fault)
        faults = tuple(each.left for each in plays)
        winner = seat if wins else 1 - seat
        game = summary(number, seat, winner, fault or "rules", faults)
        found.append(DiagnosedGame(game, seat, tuple(plays)))
    return found


def equal(random: Random, seat: int) -> tuple[bool, str]:
    return random.random() < 0.5, ""


def about(found: Diagnosis) -> list[str]:
    return [finding.about for finding in found.findings]


def test_nothing_is_said_where_nothing_was_planted() -> None:
    for seed in range(10):
        found = diagnosis(MINE, games(60, seed, equal))
        assert about(found) == []
        assert found.text.endswith(
            "Nothing found that chance does not explain in its faults, the times of its moves and its "
            "wins by seat."
        )


def test_a_jump_of_times_is_found_at_its_move() -> None:
    found = diagnosis(MINE, games(40, "slow", equal, slow_from=9))
    (finding,) = found.findings
    assert finding.about == "time"
    assert finding.sentence.startswith("from its move 9 on it took 12")
    assert finding.sentence.count("7.") == 3  # before the jump, and its opponents all the time
    assert len(finding.examples) == 2


def test_later_moves_that_take_everybody_longer_are_not_told() -> None:
    slow = [
        each._replace(
            plays=tuple(
                play._replace(times_us=tuple(us * (1 + 3 * (n > 7)) for n, us in enumerate(play.times_us)))
                for play in each.plays
            )
        )
        for each in games(40, "all slow", equal)
    ]
    assert about(diagnosis(MINE, slow)) == []


def test_a_weakness_in_the_first_seat_is_found() -> None:
    found = diagnosis(MINE, games(60, "seat", lambda random, seat: (random.random() < (0.05, 0.6)[seat], "")))
    (finding,) = found.findings
    wins, others = 30 - finding.own.cases, 30 - finding.others.cases
    assert finding.sentence == f"as seat 1 it won {wins} of 30 games, as seat 2 {others} of 30"


def test_a_weakness_in_one_seat_is_found() -> None:
    found = diagnosis(MINE, games(60, "seat", lambda random, seat: (random.random() < (0.6, 0.05)[seat], "")))
    (finding,) = found.findings
    assert finding.about == "seat"
    wins, others = 30 - finding.own.cases, 30 - finding.others.cases
    assert finding.sentence == f"as seat 2 it won {wins} of 30 games, as seat 1 {others} of 30"
    assert finding.own.of == 30 and all(example.game.endswith(":other:mine") for example in finding.examples)


def test_a_seat_in_which_it_only_draws_is_told_with_games_that_it_drew() -> None:
    won = games(24, "draws", lambda random, seat: (True, ""))
    drawn = [each._replace(game=each.game._replace(ranks=(1, 1))) if each.seat else each for each in won]
    (finding,) = diagnosis(MINE, drawn).findings
    assert finding.sentence == "as seat 2 it won 0 of 12 games, as seat 1 12 of 12"
    assert finding.text.endswith(", as in 1:other:mine and 2:other:mine.")


def test_faults_are_found_with_their_moves() -> None:
    def crashes(random: Random, seat: int) -> tuple[bool, str]:
        return (False, "gone") if random.random() < 0.4 else equal(random, seat)

    found = diagnosis(MINE, games(60, "crash", crashes))
    assert about(found) == ["fault"]
    finding = found.findings[0]
    assert (
        f"the fault `gone` in {finding.own} games, more often than its opponents (0 of 60)"
        in finding.sentence
    )
    assert "at its moves" in finding.sentence


def test_proved_wins_given_away_are_told_of_the_seat_where_it_is_so() -> None:
    """Of 25 proved wins a seat, the bot gives away 14 as seat 2, and both give away 3 elsewhere."""
    given = []
    for number, each in enumerate(games(50, "given", equal)):
        wins = [Count(number // 2 < 3, 1)] * 2
        wins[each.seat] = Count(number // 2 < (3, 14)[each.seat], 1)
        plays = (
            play._replace(judged=SeatDecisions(1, count, [BLUNDER] * count.cases))
            for play, count in zip(each.plays, wins, strict=True)
        )
        given.append(each._replace(plays=tuple(plays)))
    found = diagnosis(MINE, given)
    assert found.wins == {0: Count(3, 25), 1: Count(14, 25)}
    (finding,) = found.findings
    assert finding.sentence == (
        "as seat 2 it gave away 14 of 25 proved wins, "
        "its opponents and itself in other seats together 9 of 75"
    )
    assert finding.text.endswith("as in 1:other:mine@7 and 2:other:mine@7.")
    assert finding.chance >= 3 * fisher(finding.own, finding.others), "also each seat was compared"


def test_what_nobody_could_give_away_was_not_looked_at() -> None:
    nothing = SeatDecisions(0, Count(0, 0), [])
    played = [
        each._replace(plays=tuple(play._replace(judged=nothing) for play in each.plays))
        for each in games(20, "hidden", equal)
    ]
    found = diagnosis(MINE, played)
    assert (
        "\nno proved win of it is known, and nothing that it gave away\n" in found.text
        and "its blunders" not in found.looked_at
    )
    judged = [
        each._replace(plays=(each.plays[0]._replace(judged=nothing._replace(judged=1)), each.plays[1]))
        for each in played
    ]
    assert diagnosis(MINE, judged).looked_at[-1] == "its blunders"


def test_where_more_than_two_play_a_bot_is_first_or_not() -> None:
    three = [
        each._replace(
            game=each.game._replace(bots=(*each.game.bots, "third"), ranks=(*each.game.ranks, 3)),
            plays=(*each.plays, each.plays[0]),
        )
        for each in games(20, "three", equal)
    ]
    lines = diagnosis(MINE, three).text.splitlines()
    assert lines[1].startswith("as seat 1: first in ") and lines[3].startswith("not first: ")


def test_games_that_repeat_another_one_are_one_piece_of_evidence() -> None:
    """Two deterministic bots: seat 2 always loses, which is two different games and not sixty."""
    played = games(60, "same", lambda random, seat: (seat == 0, ""))
    same = [each._replace(game=each.game._replace(digest="the same")) for each in played]
    assert about(diagnosis(MINE, played)) == ["seat"]
    assert [example.game for example in diagnosis(MINE, [*played, played[1]]).findings[0].examples] == [
        each.game.id for each in played if each.game.ranks[each.seat] > 1
    ][:2]
    found = diagnosis(MINE, same)
    assert not found.findings and found.repeats == 58
    assert found.found == ["Fewer than 10 different games: too few to tell anything from chance."]


def test_forfeited_games_do_not_count() -> None:
    played = games(20, "out", equal)
    out = [each._replace(game=each.game._replace(faults=("out", ""))) for each in played]
    assert diagnosis(MINE, out).games == 0


def value(*events: dict[str, object]) -> dict[str, Any]:
    measured = [{"used_us": 5} for _ in events]
    return {"events": list(events), "measured": {"events": measured}}


def test_moves_are_those_that_a_seat_was_asked_for() -> None:
    found = seat_plays(
        value(
            {"seat": 1, "opening": "A1"},
            {"chance": "6"},
            {"seat": 2, "move": "B1"},
            {"seat": 1, "rejected": "x", "reason": "not-a-move", "sentence": ""},
            {"seat": 1, "move": "C1"},
            {"seat": 2, "default": "D1"},
            {"seat": 1, "left": "time"},
        ),
        2,
    )
    assert found == (SeatPlay((5, 5), "time", 2), SeatPlay((5, 5), "", 0))


@pytest.mark.parametrize("left, move", [("start", 0), ("gone", 1)])
def test_a_bot_may_fail_before_its_first_move(left: str, move: int) -> None:
    assert seat_plays(value({"seat": 1, "left": left}), 2)[0] == SeatPlay((), left, move)


@pytest.mark.parametrize(
    "wrong",
    [{}, {"seat": 7, "move": "A1"}, {"seat": 1, "left": "x"}, {"seat": "1", "move": "A1"}, {"move": 3}],
)
def test_a_damaged_record_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(RecordError):
        seat_plays(value(wrong) if wrong else {}, 2)
