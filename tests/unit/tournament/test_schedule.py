"""Schedules: who meets whom, and under which ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from referee.core.pairing import Pairing
from referee.tournament.formats import SectionState
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.schedule import Encounter


def round_robin(names: Sequence[str], seats: int, rounds: int) -> Iterator[Encounter]:
    return RoundRobin(rounds).schedule(SectionState({}, names, seats))


def test_a_round_robin_plays_every_pair_in_both_seatings_round_by_round() -> None:
    encounters = list(round_robin(["c", "a", "b"], 2, 2))
    ids = [[pairing.id for pairing in encounter.games] for encounter in encounters]
    assert ids == [
        [f"{number}:{one}:{other}", f"{number}:{other}:{one}"]
        for number in (1, 2)
        for one, other in (("a", "b"), ("a", "c"), ("b", "c"))
    ]
    two, again, other = (Pairing.parse(game).encounter for game in ("2:b:a", "2:a:b", "1:a:b"))
    assert two == again != other


def test_ids_do_not_depend_on_the_order_nor_on_who_else_plays() -> None:
    few = {p.id for e in round_robin(["x", "y"], 2, 3) for p in e.games}
    many = {p.id for e in round_robin(["z", "y", "w", "x"], 2, 4) for p in e.games}
    assert few < many


def test_larger_tables_rotate_their_seats() -> None:
    (first, *_) = round_robin("dcba", 3, 1)
    assert [pairing.bots for pairing in first.games] == [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]
    assert [pairing.id for e in round_robin("ba", 1, 1) for pairing in e.games] == ["1:a", "1:b"]


def test_an_id_tells_section_round_and_the_number_of_the_encounter() -> None:
    plain = Pairing.of(3, ("a", "b"))
    assert plain.id == "3:a:b" and (plain.section, plain.number, plain.part) == ("", 3, 0)
    full = Pairing.of(2, ("b", "a"), part=3, section="small")
    assert full.id == "small/2.3:b:a" and full == Pairing.parse(full.id)
    assert (full.section, full.round, full.number, full.part) == ("small", "2.3", 2, 3)
    assert full.encounter == Pairing.parse("small/2.3:a:b").encounter
    assert full.encounter != Pairing.parse("other/2.3:a:b").encounter
    assert full.encounter != Pairing.parse("small/2.4:a:b").encounter
    for odd in ("0:a:b", "x:a:b", "1.0:a:b", "01:a:b"):
        assert Pairing.parse(odd).number == 0
