"""What is shown to a seat: the same in two games that it could not tell apart, whatever the other seat hides,
says and takes time for.
"""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from referee.records.journal import FIRST, body_of, chained
from referee.records.record import GameRecord, to_json
from tests.command import referee
from tests.rules.twins import SECRET, TWINS, hidden_news


def stored(record: GameRecord, folder: Path) -> Path:
    """The folder, with this game in it and no other."""
    folder.mkdir(exist_ok=True)
    (folder / "games.jsonl").write_bytes(chained(body_of(to_json(record)), FIRST)[0])
    return folder


def printed(record: GameRecord, folder: Path, *words: str) -> str:
    """What `referee replay` prints of a game."""
    done = referee("replay", str(stored(record, folder)), "1", *words)
    assert done.code == 0, done.err
    return done.out


def as_text(record: GameRecord, folder: Path, *seat: str) -> str:
    return printed(record, folder, "--all", *seat)


def as_json(record: GameRecord, folder: Path, *seat: str) -> str:
    return printed(record, folder, "--json", *seat)


def as_page(record: GameRecord, folder: Path, *seat: str) -> str:
    """The page, with its data inflated."""
    html = printed(record, folder, "--html", "-", *seat)
    data = re.search(r'<script type="application/json" id="game">"([A-Za-z0-9+/=]+)"</script>', html)
    assert data
    return html + zlib.decompress(base64.b64decode(data[1])).decode()


WAYS: dict[str, Callable[..., str]] = {"text": as_text, "json": as_json, "page": as_page}


@pytest.mark.quick_cases(3)
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


@pytest.mark.parametrize("slug", TWINS)
def test_a_picture_for_a_seat_shows_nothing_that_it_cannot_know(slug: str, tmp_path: Path) -> None:
    drawn: dict[str, set[str]] = {"1": set(), "": set()}
    for game in TWINS[slug]():
        for seat, pictures in drawn.items():
            folder = stored(game, tmp_path / "run")
            words = ["--seat", seat] if seat else []
            done = referee("picture", str(folder), "1", *words)
            assert done.code == 0, done.err
            pictures.add(done.out)
    assert len(drawn["1"]) == 1 and len(drawn[""]) == 2


@pytest.mark.parametrize("slug", TWINS)
def test_a_page_for_a_seat_has_no_secret_of_another(slug: str, tmp_path: Path) -> None:
    """Not even in data that is not shown: its texts are searched for what seat 1 was not told."""
    for game in TWINS[slug]():
        page = as_page(game, tmp_path / "run", "--seat", "1")
        assert game.terms.seed.hex() not in page and game.terms.shared_seed.hex() not in page
        secrets = {word for line in hidden_news(game) for word in secret_words(line)}
        assert secrets and not {word for word in secrets if word in page}
        to_all = as_page(game, tmp_path / "run")
        assert any(word in to_all for word in secrets)


def secret_words(line: str) -> Iterator[str]:
    """A line of news that seat 1 did not get, and the runes in it as a page would show them."""
    yield line
    word, seat, *rest = line.split()
    if word == "runes" and seat == "2":
        yield from (f">{rune}<" for rune in rest)
