"""What the tests of processes share."""

from __future__ import annotations

import pytest

from tests.programs import needs_level


@pytest.fixture(params=["", "nobody"])
def user(request: pytest.FixtureRequest) -> str:
    """Whose bots run under bubblewrap: those of the referee's own user, and of another."""
    name: str = request.param
    needs_level("bwrap", name)
    return name
