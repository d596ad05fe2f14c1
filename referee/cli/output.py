"""What every command says beside its data."""

from __future__ import annotations

import os
import sys

import click


def say(line: str) -> None:
    """A line for a person, on stderr. That nobody reads it any more ends nothing."""
    try:
        click.echo(line, err=True)
    except OSError:
        # What is still in the buffer goes nowhere, instead of failing again when the interpreter exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
