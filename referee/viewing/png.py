"""Turns SVG into PNG, with a program that is installed."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys

from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown

PNG_START = b"\x89PNG\r\n\x1a\n"  # how every PNG file begins

_PROGRAMS = (
    ("rsvg-convert", "--format=png"),
    ("inkscape", "--pipe", "--export-type=png", "--export-filename=-"),
    ("resvg", "-", "-c"),
    ("magick", "svg:-", "png:-"),
    ("convert", "svg:-", "png:-"),
)
"""The programs in the order in which they are tried; each reads stdin and writes stdout."""

_CAIROSVG = (sys.executable, "-P", "-m", "cairosvg", "-", "-f", "png")

_LONGEST_S = 60

_EXPECTED = (
    "expected rsvg-convert (on many systems in the package `librsvg2-bin`), inkscape, resvg, ImageMagick "
    "or the Python package cairosvg"
)


def png_of(svg: str) -> bytes:
    """A picture as PNG, as large as the SVG says.

    Raises `EnvironmentLacksError`, which names what to install, if no program made a picture.
    """
    failures = []
    for command in _commands():
        name = "cairosvg" if command is _CAIROSVG else command[0]
        try:
            done = subprocess.run(command, input=svg.encode(), capture_output=True, timeout=_LONGEST_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            failures.append(f"`{name}`: {shown(str(error))}")
            continue
        if done.returncode == 0 and done.stdout.startswith(PNG_START):
            return done.stdout
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        failures.append(f"`{name}` ended with status {done.returncode}{said and ': '}{shown(said)}")
    if failures:
        raise EnvironmentLacksError(f"cannot make a PNG: {'; '.join(failures)}; {_EXPECTED}")
    raise EnvironmentLacksError(f"no program that converts SVG to PNG is installed, {_EXPECTED}")


def _commands() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = [command for command in _PROGRAMS if shutil.which(command[0])]
    return [*found, _CAIROSVG] if importlib.util.find_spec("cairosvg") else found
