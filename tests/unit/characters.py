"""Characters for tests that draw texts at random.

Hypothesis's own strategies of characters look at every character of Unicode when they are first used. In a
fresh clone this takes each worker two seconds.
"""

from hypothesis import strategies as st


def _between(*ranges: tuple[int, int]) -> st.SearchStrategy[str]:
    return st.one_of(*(st.integers(first, last).map(chr) for first, last in ranges))


ENCODABLE = _between((0, 0x7F), (0x80, 0xD7FF), (0xE000, 0x10FFFF))
"""Every character that UTF-8 can encode."""

NO_CONTROL = _between((0x20, 0x7E), (0xA0, 0xD7FF), (0xE000, 0x10FFFF))
"""The same without control characters."""
