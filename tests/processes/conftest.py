"""What the tests of processes share."""

from __future__ import annotations

import os

import pytest

from referee.processes import levels


@pytest.fixture(params=["", "nobody"])
def user(request: pytest.FixtureRequest) -> str:
    """Whose bots run under bubblewrap: those of the referee's own user, and of another."""
    name: str = request.param
    if name and os.geteuid():
        pytest.skip("only root can run bots as another user")
    if why := levels.reason("bwrap", name):
        pytest.skip(why)
    return name
