"""Which encounters of a league are played next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

import numpy as np
import pytest

from referee.core.seeds import Stream
from referee.records.record import Summary
from referee.tournament.formats import SectionState
from referee.tournament.formats.league_choice import (
    FIRST_ENCOUNTERS,
    PATIENCE,
    Belief,
    LeagueState,
    _Chooser,
    strengths,
)
from referee.tournament.schedule import Encounter


def results(chosen: Encounter, elo: dict[str, float], rng: Stream, rated: bool = True) -> list[Summary]:
    """Results of an encounter by chance: the strongest with some noise is first, and so on."""
    found = []
    for pairing in chosen.games:
        form = [elo[name] + 10 * sum(rng.below(100) - 50 for _ in range(3)) for name in pairing.bots]
        ranks = tuple(1 + sum(other > own for other in form) for own in form)
        faults = ("",) * len(ranks)
        found.append(Summary(pairing.id, 1, "toy", pairing.bots, ranks, ranks, "rules", "", rated, faults))
    return found


def play(
    league: LeagueState, elo: dict[str, float], count: int, names: Collection[str] = (), batch: int = 2
) -> list[Encounter]:
    """Plays so many encounters in batches, each chosen when the one before the last is over."""
    rng = Stream(b"league")
    found: list[Encounter] = []
    waiting: list[Sequence[Encounter]] = []
    while len(found) < count:
        chosen = league.choose(names or elo, batch)
        for one in chosen:
            league.schedule(one)
        found += chosen
        waiting.append(chosen)
        for one in waiting.pop(0) if len(waiting) > 1 else ():
            league.finish(one, results(one, elo, rng))
    for one in (one for chosen in waiting for one in chosen):
        league.finish(one, results(one, elo, rng))
    return found


SIX = {"a": 500.0, "b": 480.0, "c": 200.0, "d": 0.0, "e": -300.0, "f": -900.0}


def bots(chosen: Encounter) -> tuple[str, ...]:
    return tuple(sorted(chosen.games[0].bots))


def test_an_encounter_is_a_function_of_its_bots_and_how_often_they_met() -> None:
    met: Counter[tuple[str, ...]] = Counter()
    for one in play(LeagueState(SectionState({})), SIX, 60):
        met[bots(one)] += 1
        first, second = bots(one)
        number = met[bots(one)]
        assert [game.id for game in one.games] == [
            f"{number}:{first}:{second}",
            f"{number}:{second}:{first}",
        ]


def test_the_same_history_gives_the_same_choice_in_whatever_order_the_bots_are_named() -> None:
    runs = [
        play(LeagueState(SectionState({})), dict(items), 50) for items in (SIX.items(), reversed(SIX.items()))
    ]
    assert runs[0] == runs[1]


def test_bots_of_which_nothing_is_known_are_chosen_by_name() -> None:
    chosen = LeagueState(SectionState({})).choose(["d", "b", "a", "c"], 2)
    assert [bots(one) for one in chosen] == [("a", "b"), ("c", "d")]


def test_close_bots_and_the_top_meet_most() -> None:
    met = Counter(bots(one) for one in play(LeagueState(SectionState({})), SIX, 300))
    assert met.most_common(1)[0][0] == ("a", "b")
    assert met["a", "b"] > 300 / 5
    assert met["e", "f"] < met["a", "b"] / 4, "far apart, and not at the top"


def test_a_new_bot_plays_first() -> None:
    league = LeagueState(SectionState({}))
    play(league, SIX, 100)
    new = play(league, {**SIX, "g": 100.0}, FIRST_ENCOUNTERS, batch=1)
    assert all("g" in bots(one) for one in new)


def test_no_bot_is_forgotten() -> None:
    last = dict.fromkeys(SIX, 0)
    for number, one in enumerate(play(LeagueState(SectionState({})), SIX, 600), 1):
        last.update(dict.fromkeys(bots(one), number))
        assert min(last.values()) >= number - (PATIENCE + 1) * len(SIX)


def test_bots_that_left_are_not_chosen_and_what_they_told_is_kept() -> None:
    league = LeagueState(SectionState({}))
    play(league, SIX, 100)
    rest = [name for name in SIX if name != "c"]
    after = play(league, SIX, 50, names=rest)
    assert all("c" not in bots(one) for one in after)
    assert league.choose(["a"], 3) == []


def test_what_is_scheduled_counts_before_it_is_over() -> None:
    league = LeagueState(SectionState({}))
    play(league, SIX, 100)
    one_by_one = set()
    for _ in range(30):
        (one,) = league.choose(SIX, 1)
        league.schedule(one)
        one_by_one.add(bots(one))
    assert len(one_by_one) > 1
    assert len({bots(one) for one in league.choose(SIX, 30)}) > 1, "nor does a batch repeat one pair"


def test_games_without_a_result_tell_nothing() -> None:
    league, other = LeagueState(SectionState({})), LeagueState(SectionState({}))
    for state in (league, other):
        for one in state.choose(SIX, 12):
            state.schedule(one)
            found = results(one, SIX, Stream(b"few"), rated=state is league)
            state.finish(one, found if state is league else found[:1])
    assert not other._rated.any() and not other._open.any()
    assert league._rated.any()


@pytest.mark.parametrize("seats", [3, 4])
def test_tables_of_more(seats: int) -> None:
    league = LeagueState(SectionState({}, seats=seats, name="small"))
    met: Counter[str] = Counter()
    for one in play(league, SIX, 60):
        assert len(one.games) == seats and one.games[0].id.startswith("small/")
        assert len(set(bots(one))) == seats
        assert {game.bots[0] for game in one.games} == set(bots(one)), "each bot sits in each seat"
        met.update(bots(one))
    assert met["b"] > met["f"] > 0


def test_strengths_have_a_prior_and_find_what_the_points_say() -> None:
    games = np.array([[0.0, 1000.0], [1000.0, 0.0]])
    points = np.array([[0.0, 750.0], [250.0, 0.0]])
    one, other = 400 / np.log(10) * strengths(games, points)
    assert one - other == pytest.approx(400 * np.log10(3), abs=1)
    won = strengths(games / 1000, np.array([[0.0, 1.0], [0.0, 0.0]]))
    assert 0 < won[0] < 1


def test_a_bot_of_which_nothing_is_known_has_a_standard_deviation_of_350_elo() -> None:
    league = LeagueState(SectionState({}))
    league.choose("ab", 0)
    mean, covariance = league._belief()
    assert mean == pytest.approx([0, 0])
    assert 400 / np.log(10) * np.sqrt(np.diag(covariance)) == pytest.approx([350, 350])


def test_the_likeliest_strengths_weigh_the_points_against_the_prior() -> None:
    games = np.array([[0.0, 3.0], [3.0, 0.0]])
    mean, other = strengths(games, np.array([[0.0, 2.0], [1.0, 0.0]]))
    variance = (350 / (400 / np.log(10))) ** 2
    assert other == pytest.approx(-mean)
    assert 2 - 3 / (1 + np.exp(-2 * mean)) == pytest.approx(mean / variance)


def test_the_update_by_rank_one_is_the_inverse_of_more_information() -> None:
    league = LeagueState(SectionState({}))
    play(league, SIX, 40)
    before = league._belief()
    (one,) = league.choose(SIX, 1)
    league.schedule(one)
    after = league._belief()
    assert isinstance(before, Belief)
    i, j = (league._names[name] for name in bots(one))
    added = np.linalg.inv(after.covariance) - np.linalg.inv(before.covariance)
    assert added[i, j] < 0
    added[np.ix_([i, j], [i, j])] = 0
    assert np.abs(added).max() < 1e-8, "an encounter tells of its own two bots, the rest follows"


def test_the_effect_of_an_encounter_is_updated_as_if_computed_from_what_is_known_then() -> None:
    league = LeagueState(SectionState({}))
    play(league, SIX, 40)
    chooser = _Chooser(*league._belief(), seats=2)
    chooser._update(0, 3)
    chooser._update(1, 2)
    computed = chooser._covariance @ chooser._loss @ chooser._covariance
    assert np.allclose(chooser._effect, computed, rtol=1e-9, atol=0)
