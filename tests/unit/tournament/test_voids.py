"""Who is held responsible for games that became void."""

from __future__ import annotations

from referee.core.pairing import Pairing
from referee.tournament.run.voids import Suspicion, VoidGame


def suspicion(*games: str) -> Suspicion:
    return Suspicion(void(game) for game in games)


def void(game: str) -> VoidGame:
    return VoidGame(game, frozenset(Pairing.parse(game).bots))


def test_a_game_that_became_void_once_is_played_again() -> None:
    once = suspicion("1:a:b", "1:a:c")
    assert not once.is_undecided("1:a:b") and not once.forfeiting("1:a:b") and not once.responsible("abc")


def test_of_two_that_were_alone_each_time_both_forfeit_this_game_and_no_other() -> None:
    twice = suspicion("1:a:b", "1:a:b")
    assert twice.is_undecided("1:a:b") and twice.forfeiting("1:a:b") == {"a", "b"}
    assert not twice.forfeiting("1:b:a") and not twice.responsible("ab")


def test_who_sat_in_more_void_games_forfeits_all_of_its_games() -> None:
    seen = suspicion("1:a:b", "1:a:b")
    assert seen.note(void("1:a:c")) == {"a"}
    assert not seen.is_undecided("1:a:b"), "it is decided"
    for game in ("1:a:b", "1:a:c", "2:d:a"):
        assert seen.forfeiting(game) == {"a"}
    assert not seen.forfeiting("1:b:c")


def test_void_games_that_are_explained_count_against_nobody_else() -> None:
    seen = suspicion("1:a:b", "1:a:b", "1:a:c", "1:a:c")
    assert seen.responsible("abc") == {"a"}
    seen.note(void("1:b:c"))
    seen.note(void("1:b:c"))
    assert seen.forfeiting("1:b:c") == {"b", "c"}, "neither is more suspect than the other"


def test_two_that_act_against_all_are_both_found() -> None:
    games = [f"1:{one}:{other}" for one in "ax" for other in "bcd"]
    seen = suspicion(*games, *games)
    assert seen.responsible("abcdx") == {"a", "x"}


def test_the_order_of_the_void_games_is_all_that_counts() -> None:
    games = ["1:a:b", "1:b:a", "1:a:b", "1:a:c", "1:b:c", "1:a:c"]
    noted = Suspicion()
    for number, game in enumerate(games):
        noted.note(void(game))
        assert noted.responsible("abc") == suspicion(*games[: number + 1]).responsible("abc")


def test_of_three_at_a_table_one_that_was_not_started_is_not_the_cause() -> None:
    seen = suspicion("1:a:b:c", "1:a:b:c", "1:a:d:e")
    assert seen.responsible("abc") == {"a"}
    for _ in range(2):
        seen.note(VoidGame("1:a:b:c", frozenset("bc")))
    assert seen.forfeiting("1:a:b:c") == {"a", "b", "c"}


def test_who_plays_alone_was_it() -> None:
    assert suspicion("1:a", "1:a").responsible("a") == {"a"}
