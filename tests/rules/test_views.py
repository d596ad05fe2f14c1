"""What is shown to a seat: the same in two games that it could not tell apart, whatever the other seat hides,
says and takes time for.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from referee.records.journal import FIRST, body_of, chained
from referee.records.record import GameRecord, to_json
from tests.command import referee
from tests.rules.twins import SECRET, TWINS, hidden_news


def printed(record: GameRecord, folder: Path, *words: str) -> str:
    """What `referee replay` prints of a game."""
    folder.mkdir(exist_ok=True)
    (folder / "games.jsonl").write_bytes(chained(body_of(to_json(record)), FIRST)[0])
    done = referee("replay", str(folder), "1", *words)
    assert done.code == 0, done.err
    return done.out


def as_json(record: GameRecord, folder: Path, *seat: str) -> str:
    return printed(record, folder, "--json", *seat)


WAYS: dict[str, Callable[..., str]] = {"json": as_json}


@pytest.mark.parametrize("slug", TWINS)
@pytest.mark.parametrize("way", WAYS)
def test_a_seat_is_shown_nothing_of_what_it_cannot_know(way: str, slug: str, tmp_path: Path) -> None:
    one, other = TWINS[slug]()
    shown = [WAYS[way](game, tmp_path / "run", "--seat", "1") for game in (one, other)]
    assert shown[0] == shown[1]
    assert SECRET not in shown[0]
    # Else this test would prove nothing: a spectator sees the difference.
    shown_to_all = [WAYS[way](game, tmp_path / "run") for game in (one, other)]
    assert shown_to_all[0] != shown_to_all[1]
    assert all(SECRET in text for text in shown_to_all)
    assert hidden_news(one) != hidden_news(other)
