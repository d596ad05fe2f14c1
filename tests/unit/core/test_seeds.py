"""The generator: a seed means the same for ever."""

from __future__ import annotations

import hashlib
import hmac
from collections import Counter
from itertools import chain, count, islice

import pytest

from referee.core.pairing import Pairing
from referee.core.seeds import Stream, bot_seed, derive, fresh_seed, position_seeds, shared_by


def test_the_definition() -> None:
    key = derive(b"seed", "game", "1:a:b")
    assert key == hmac.new(b"seed", b"game\x001:a:b", hashlib.sha256).digest()
    stream = Stream(key)
    block = hashlib.sha256(key + bytes(8)).digest()
    assert [stream.below(256) for _ in range(32)] == list(block)
    assert stream.below(256) == hashlib.sha256(key + bytes(7) + b"\1").digest()[0]


def test_numbers_that_must_never_change() -> None:
    stream = Stream(derive(b"referee", "test"))
    assert [stream.below(n) for n in (1, 2, 6, 37, 1000, 1 << 53)] == EXPECTED
    letters = list("ABCDEFGH")
    stream.shuffle(letters)
    assert "".join(letters) == SHUFFLED


def test_chance_of_a_position_that_belongs_to_no_game_must_never_change() -> None:
    assert [seed.hex()[:16] for seed in position_seeds("7")] == ["04107c04ecd79ae3", "12f3b03a1a40dbfe"]


EXPECTED = [0, 0, 0, 6, 71, 4202692959051458]
SHUFFLED = "BFECGADH"


@pytest.mark.parametrize("key", [b"", b"any key"])
def test_the_numbers_are_those_of_one_long_string_of_bytes(key: bytes) -> None:
    blocks = (hashlib.sha256(key + number.to_bytes(8, "big")).digest() for number in count())
    string = chain.from_iterable(blocks)
    stream = Stream(key)
    for n in [*range(1, 3000), 1 << 256, (1 << 256) + 1, 3**500, 1, 2]:
        bits = (n - 1).bit_length()
        length = (bits + 7) // 8
        while True:
            number = int.from_bytes(bytes(islice(string, length)), "big") >> (8 * length - bits)
            if number < n:
                break
        assert stream.below(n) == number


def test_every_number_is_as_likely() -> None:
    stream = Stream(b"any key")
    counts = Counter(stream.below(6) for _ in range(60_000))
    assert set(counts) == set(range(6))
    assert sum((count - 10_000) ** 2 / 10_000 for count in counts.values()) < 20.5  # chi², p = 0.001


def test_streams_and_seeds_differ() -> None:
    firsts = {Stream(derive(b"seed", purpose)).below(1 << 60) for purpose in ("chance", "bot", "list")}
    assert len(firsts) == 3
    assert derive(b"seed", "a", "b") != derive(b"seed", "ab")
    assert len(fresh_seed()) == 16 and fresh_seed() != fresh_seed()


def test_each_seat_of_a_game_has_a_seed_of_its_own_with_53_random_bits() -> None:
    games = [derive(b"run", str(number)) for number in range(32)]
    seeds = [bot_seed(game, seat) for game in games for seat in range(4)]
    assert len(set(seeds)) == 128 and all(seed < 1 << 53 for seed in seeds)
    for bit in range(53):
        assert 32 < sum(seed >> bit & 1 for seed in seeds) < 96, f"bit {bit} is not random"


def test_every_order_is_as_likely_after_a_shuffle() -> None:
    stream = Stream(b"shuffle")
    counts: Counter[tuple[str, ...]] = Counter()
    for _ in range(2400):
        items = list("abcd")
        stream.shuffle(items)
        counts[tuple(items)] += 1
    assert len(counts) == 24
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 49.7  # chi², p = 0.001


def test_nothing_is_below_nothing() -> None:
    with pytest.raises(ValueError, match="below"):
        Stream(b"").below(0)


def test_games_of_an_encounter_share_chance_and_so_do_bots_that_play_alone() -> None:
    assert shared_by("s/2.1:a:b") == shared_by("s/2.1:b:a") != shared_by("s/2.2:a:b")
    assert shared_by("2:a:b") != shared_by("2:a:c")
    assert shared_by("2:a:b:c") == shared_by("2:c:a:b") != shared_by("2:a:b:d")
    assert shared_by("2:a") == shared_by("2:b") != shared_by("3:a")


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
