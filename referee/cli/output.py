"""What the commands print: data on stdout, everything else on stderr."""

from __future__ import annotations

import contextlib
import os
import sys

import click

from referee.core.errors import StorageError


def show_data(text: str) -> None:
    """A command's result, on stdout. Raises `StorageError` where it cannot be written.

    That a reader such as `head` has had enough is no failure.
    """
    try:
        click.echo(text)
    except OSError as error:
        _discard(sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return
        raise StorageError(f"cannot write to standard output: {error.strerror}") from None


def say(line: str) -> None:
    """A line for a person, on stderr. That nobody reads it any more ends nothing."""
    try:
        click.echo(line, err=True)
    except OSError:
        _discard(sys.stderr.fileno())


def say_now(line: str) -> None:
    """The same from a signal's handler, past the buffer that may just be written."""
    with contextlib.suppress(OSError, AttributeError):  # there may be no stderr at all
        os.write(sys.stderr.fileno(), f"{line}\n".encode())


def _discard(descriptor: int) -> None:
    """What is still in the buffer goes nowhere, instead of failing again when the interpreter exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
