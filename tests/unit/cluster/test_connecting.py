"""Addresses of clusters, and what is said where there is none."""

from __future__ import annotations

import sys

import pytest

from referee.cluster.connecting import checked_address, scheduler_at
from referee.core.errors import EnvironmentLacksError, UsageError

GOOD = ["tcp://127.0.0.1:8786", "tls://host.example:1", "tcp://[::1]:8786", "local:1", "local:1000"]
BAD = [
    *(
        "",
        "tcp://",
        "tcp://host",
        "tcp://host:0",
        "tcp://host:x",
        "tcp://host:99999",
        "tcp://[::1",
        "host:8786",
    ),
    *("http://host:8786", "inproc://host:1", "tcp://user@host:1", "tcp://host:1/path", "tcp://ho st:1"),
    *("tcp://host\n:1", "local:", "local:0", "local:1001", "local:-1", "local:²", "local:" + "9" * 5000),
]


@pytest.mark.parametrize("address", GOOD)
def test_addresses_are_taken_as_they_are(address: str) -> None:
    assert checked_address(address) == address


@pytest.mark.parametrize("address", BAD)
def test_other_addresses_are_wrong_usage(address: str) -> None:
    with pytest.raises(UsageError, match=r"^cluster `.*`: expected ") as caught, scheduler_at(address):
        pass
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


def test_a_missing_package_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(
            EnvironmentLacksError,
            match=r"`distributed`, which `pip install -e '.\[cluster\]'` installs in a checkout$",
        ),
        scheduler_at("tcp://127.0.0.1:1"),
    ):
        pass
