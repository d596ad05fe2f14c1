"""`referee moves`: legal moves, news and counts after lines of moves, and in recorded games."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from referee.cli import output
from referee.gameplay.events import Drawn, Moved
from referee.gameplay.lines import Chance, LinePosition, followed
from referee.games import GAMES
from referee.records import journal
from referee.records.record import GameRecord, to_json
from referee.viewing.steps import steps_of
from tests.command import ROOT, referee
from tests.page_tables import require_listed, rows, words
from tests.rules.random_play import random_game

DEAL = (
    "0-4 5-7 1-6 1-5 1-1 2-3 0-7 0-1 4-7 0-2 3-6 6-6 2-6 3-4 0-0 1-3 2-5 3-3 4-5 2-7 0-6 4-6 3-7 0-5 7-7 6-7 "
    "2-4 5-6 4-4 1-2 2-2 5-5 1-4 0-3 1-7 3-5"
)
RUNES = "35710246 45671230"


def printed(*words: str) -> list[str]:
    done = referee("moves", *words)
    assert done.code == 0, done.err
    return done.out.splitlines()


def refused(*words: str) -> str:
    done = referee("moves", *words)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    return done.err


def test_moves_are_canonical_and_one_a_line() -> None:
    state = GAMES["blooms"].start({"size": 3, "target": 10})
    moves = printed("blooms", "--option", "size=3")
    assert moves == [state.write(move) for move in state.legal(0)] and len(moves) == 38
    assert printed("blooms", "--option", "size=3", "--most", "2") == ["L:A1", "D:A1"]


@pytest.mark.parametrize("line", [("l:a1", "D:A2 L:B1"), ("l:a1;D:A2 L:B1",), ("l:a1 ;", " D:A2  L:B1;")])
def test_a_line_is_several_words_or_has_separators(line: tuple[str, ...]) -> None:
    assert printed("blooms", "--option", "size=3", *line, "--news") == [
        "news move 1 L:A1",
        "news move 2 L:B1 D:A2",
    ]
    assert "D:B1" not in printed("blooms", "--option", "size=3", *line)


def test_what_is_refused_says_which_move_and_why() -> None:
    assert "move 2 `L:A1` of seat 2: A1 is occupied" in refused("blooms", "L:A1; L:A1")
    assert "move 3 `A1 U R`: the game is over" in refused(
        "vinetree", "--option", "size=3", "B2 L R; B2 DL UL; A1 U R"
    )
    assert "expected a move of seat 2 too" in refused("floral", "C")
    assert "chance" in refused("thetree", "--chance", "0-0")
    assert "given 2 times, but the number of chance events here is 1" in refused(
        "thetree", "--chance", DEAL, "--chance", DEAL
    )
    assert "`--count` and `--news`" in refused("blooms", "--count", "--news")
    assert "--perft N" in refused("blooms", "--divide")
    assert "`--most` and `--count` are given" in refused("blooms", "--most", "1", "--count")
    assert "--seat 1 to 2" in refused("blooms", "--seat", "3")


def test_a_game_that_is_over_has_no_moves() -> None:
    done = referee("moves", "vinetree", "--option", "size=3", "B2 L R; B2 DL UL")
    assert (done.code, done.out) == (0, "")
    assert done.err == "the game is over: seat 2 made the last move, every flower is dead\n"
    assert printed("vinetree", "--option", "size=3", "B2 L R; B2 DL UL", "--count") == ["0"]


def test_where_several_act_each_move_has_its_seat() -> None:
    planting = [f"{seat} {kind}" for seat in (1, 2) for kind in "ACHWX-"]
    assert printed("floral") == planting
    assert printed("floral", "--seat", "2") == list("ACHWX-")
    assert printed("floral", "--count") == ["1 6", "2 6"]
    casting = printed(
        "floral", "--chance", "set 3 {1,2,3}; set 3 {1,2,3}; set 3 {1,2,3}", "--chance", RUNES, " -; -; E; S"
    )
    assert casting == [
        "1 A",
        "1 B",
        "1 C",
        "1 D",
        "1 F",
        "1 G",
        "1 H",
        *(f"2 {symbol}" for symbol in "STUVWXYZ"),
    ]


def test_a_seat_that_does_not_act_has_no_moves() -> None:
    done = referee("moves", "blooms", "--seat", "2")
    assert (done.code, done.out, done.err) == (0, "", "it is not the turn of seat 2 here; to move: seat 1\n")


def test_why_a_move_of_another_seat_is_not_legal_is_hidden() -> None:
    """Else the reason would tell whether the seat holds a tile."""
    for tile in ("5-5", "3-4"):
        line = ("thetree", "--seed", "7", "0-3@-1,1", f"{tile}@0,2")
        hidden = refused(*line, "--seat", "1")
        assert hidden == f"referee: move 2 `{tile}@0,2` of seat 2: it is not legal\n"
        assert refused(*line, "--seat", "2") == refused(*line) != hidden


def test_chance_is_told_and_follows_from_the_seed() -> None:
    told = [referee("moves", "thetree", "--seed", seed).err for seed in "778"]
    assert told[0].startswith("chance: ") and told[0] == told[1] != told[2]
    given = referee("moves", "thetree", "--chance", DEAL, "--news", "--seat", "2")
    told_to_all = referee("moves", "thetree", "--chance", DEAL, "--news")
    assert told_to_all.err == f"chance: {DEAL}\n"
    assert given.out.splitlines() == [
        "news deal 1 18",
        "news hand 2 0-0 0-2 1-3 2-5 2-6 3-3 3-4 3-6 6-6",
        "news opened 2 0-0@0,0",
    ]
    both = printed("thetree", "--chance", DEAL, "--news")
    assert [line.split()[0] for line in both] == ["1"] * 3 + ["2"] * 3 and both[1].startswith(
        "1 news hand 1 "
    )


def test_the_picture_is_that_of_the_seat() -> None:
    own = "\n".join(printed("thetree", "--chance", DEAL, "--picture", "--seat", "2"))
    assert "0-2" in own and "4-7" not in own
    assert "4-7" in "\n".join(printed("thetree", "--chance", DEAL, "--picture"))


def test_counts_of_first_turns_add_up() -> None:
    words = ("floral", "--chance", "set 3 {1,2,3}; set 3 {1,2,3}; set 3 {1,2,3}", "--chance", RUNES)
    assert [line.split() for line in printed(*words, "--perft", "2")] == [
        ["depth", "lines"],
        ["1", "36"],
        ["2", "2304"],
    ]
    divided = printed(*words, "--perft", "2", "--divide")
    assert divided[0] == "          64  A; A" and sum(int(line.split()[0]) for line in divided) == 2304
    data = json.loads("".join(printed(*words, "--perft", "2", "--json")))
    assert data["perft"] == [36, 2304] and data["chance"][1] == RUNES
    data = json.loads("".join(printed(*words, "--perft", "1", "--divide", "--json")))
    assert data["divide"][0] == {"turn": "A; A", "lines": 1} and len(data["divide"]) == 36


def test_the_position_as_json() -> None:
    data = json.loads(
        "".join(
            printed(
                "floral",
                "--chance",
                "set 3 {1,2,3}; set 3 {1,2,3}; set 3 {1,2,3}",
                "--chance",
                RUNES,
                "--json",
                "--most",
                "1",
            )
        )
    )
    assert data["legal"] == [{"seat": seat, "moves": ["A"], "count": 6} for seat in (1, 2)]
    assert (data["acting"], data["outcome"], list(data["news"])) == ([1, 2], None, ["1", "2"])
    over = json.loads("".join(printed("vinetree", "--option", "size=3", "B2 L R; B2 DL UL", "--json")))
    assert (over["acting"], over["legal"], over["outcome"]["ranks"]) == ([], [], [1, 2])


def test_the_page_has_all_members() -> None:
    def data(*words: str) -> dict[str, Any]:
        return dict(json.loads("".join(printed("vinetree", "--json", *words))))

    page = "referee/docs/MOVES.md"
    require_listed(page, "member | ", data())
    (legal,) = (what for first, what in rows(page, "member | ") if first == "`legal`")
    assert set(words(legal)) - {"null"} == set(data()["legal"][0])
    (perft,) = re.findall(
        r"^With `--perft N` the members after `chance` .*$", (ROOT / page).read_text(), re.M
    )
    counted, divided = data("--perft", "1"), data("--perft", "1", "--divide")
    before = {name for name in data() if name in counted}
    assert set(words(perft)) - {"chance"} == {*counted, *divided, *divided["divide"][0]} - before


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, GameRecord]]:
    """Folders with a game each, by slug."""
    found = {}
    for slug, given in (("thetree", {"deals": "3"}), ("floral", {"max_turns": "8"})):
        folder = tmp_path_factory.mktemp(slug)
        record = random_game(GAMES[slug], b"moves", given)
        written = journal.Journal.create(folder)
        written.append(to_json(record))
        written.close()
        found[slug] = str(folder), record
    return found


@pytest.mark.parametrize("slug", ["thetree", "floral"])
def test_in_a_recorded_game_the_move_that_was_made_is_among_those_of_its_step(
    slug: str, recorded: dict[str, tuple[str, GameRecord]]
) -> None:
    folder, record = recorded[slug]
    steps = steps_of(record).steps
    for number in sorted({2, len(steps) // 2, len(steps) - 2}):
        moves = {(e.seat, e.text) for e in steps[number + 1].events if isinstance(e, Moved)}
        data = json.loads("".join(printed(slug, "--from", folder, f"1@{number}", "--json")))
        listed = {(legal["seat"] - 1, text) for legal in data["legal"] for text in legal["moves"]}
        assert moves and moves <= listed
        assert data["news"]["2"] == list(steps[number].state.seen(1))


@pytest.mark.parametrize("slug", ["thetree", "floral"])
def test_a_recorded_game_goes_on_with_its_chance(
    slug: str, recorded: dict[str, tuple[str, GameRecord]]
) -> None:
    folder, record = recorded[slug]
    texts = [event.text for event in record.events if isinstance(event, Moved)]
    done = referee("moves", slug, "--from", folder, "1@0", "; ".join(texts))
    drawn = [event.text for event in record.events if isinstance(event, Drawn)]
    assert done.err.splitlines() == [
        *(f"chance: {text}" for text in drawn),
        f"the game is over: {record.verdict.outcome.sentence}",
    ]


def test_chance_goes_on_where_it_was_in_the_game(recorded: dict[str, tuple[str, GameRecord]]) -> None:
    folder, record = recorded["floral"]
    conditions, runes = (event.text for event in record.events if isinstance(event, Drawn))
    done = referee("moves", "floral", "--from", folder, "1@1")  # the conditions are drawn, the runes are not
    assert done.err == f"chance: {conditions}\nchance: {runes}\n"
    assert done.out.splitlines() == printed("floral", "--from", folder, "1@2")


def test_chance_from_seeds_is_that_of_the_game(recorded: dict[str, tuple[str, GameRecord]]) -> None:
    for _, record in recorded.values():
        terms = record.terms
        chance = Chance.of_seeds(terms.seed, terms.shared_seed)
        start = LinePosition.settled(terms.game.start(terms.options), chance)
        end = followed(start, [event.text for event in record.events if isinstance(event, Moved)])
        assert end.chance.decided == tuple(event.text for event in record.events if isinstance(event, Drawn))
        assert end.state.outcome() == record.verdict.outcome


def test_a_recorded_game_has_its_own_options_and_ends_somewhere(
    recorded: dict[str, tuple[str, GameRecord]],
) -> None:
    folder = recorded["floral"][0]
    assert "expected no `--option`" in refused("floral", "--from", folder, "1@2", "--seed", "1")
    assert "has no move 99" in refused("floral", "--from", folder, "1@99")
    assert "expected a game of `blooms`" in refused("blooms", "--from", folder, "1@2")
    assert "expected ID@N" in refused("floral", "--from", folder, "1")
    assert "no game `7`" in refused("floral", "--from", folder, "7@1")


def test_moves_are_made_as_they_are_printed_and_no_more_when_nobody_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def lines() -> Iterator[str]:
        for number in count():
            made.append(number)
            yield str(number)

    batches: list[str] = []

    def show(text: str) -> bool:
        batches.append(text)
        return len(batches) < 2

    monkeypatch.setattr(output, "show_data", show)
    output.show_lines(lines())
    assert len(batches) == 2 and len(made) == sum(batch.count("\n") + 1 for batch in batches)


def test_of_millions_of_moves_the_first_come_at_once() -> None:
    # The next vines have seven steps each, on a board that is nearly empty.
    words = ("vinetree", "--option", "size=13", "G7 L R; G6 DDD UUU", "--most", "2")
    assert printed(*words) == ["D6 LDDDDDD RDDRRDD", "D6 LDDDDDD RDDRRDR"]
