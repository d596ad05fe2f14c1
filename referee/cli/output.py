"""What every command says beside its data."""

from __future__ import annotations

import contextlib

import click


def say(line: str) -> None:
    """A line for a person, on stderr. That nobody reads it any more ends nothing."""
    with contextlib.suppress(OSError):
        click.echo(line, err=True)
