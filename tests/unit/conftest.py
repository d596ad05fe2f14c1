"""What these tests share: they start no processes, so that one look at what is left suffices for a module."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.holdings import nothing_left


@pytest.fixture(autouse=True, scope="module")
def nothing_is_left(launcher_of_all: None) -> Iterator[None]:
    """In place of the look after every test."""
    with nothing_left():
        yield
