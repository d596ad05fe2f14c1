"""Tournament files as TOML: bounded before they are parsed."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

from referee.core.errors import UsageError
from referee.core.files import read_start
from referee.core.text import shown

SIZE_CAP = 1 << 20  # maximum number of bytes of a tournament file

LINE_CAP = 4096
"""Maximum number of bytes of a line: the parser takes time in the square of the length of a dotted key."""

DEPTH_CAP = 50  # maximum number of levels of nested brackets


def read_text(path: Path) -> bytes:
    """The first bytes of a file, one more than a tournament file may have. Raises `UsageError`."""
    try:
        return read_start(path, SIZE_CAP + 1)
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None


def parse(text: bytes) -> dict[str, Any]:
    """The tables of a file. Raises `UsageError`, which names the line where that is known."""
    if len(text) > SIZE_CAP:
        raise UsageError(f"the file has more than {SIZE_CAP:,} bytes, expected a tournament file")
    depth = 0
    for number, line in enumerate(text.split(b"\n"), 1):
        if len(line) > LINE_CAP:
            raise UsageError(f"line {number} has more than {LINE_CAP:,} bytes")
        depth += line.count(b"[") + line.count(b"{") - line.count(b"]") - line.count(b"}")
        if max(depth, line.count(b"["), line.count(b"{")) > DEPTH_CAP:
            raise UsageError(f"line {number} has more than {DEPTH_CAP} levels of nested brackets")
    try:
        return tomllib.loads(text.decode())
    except UnicodeDecodeError:
        raise UsageError("the file is not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise UsageError(f"the file is not valid TOML: {shown(str(error), 200)}") from None


def written(tables: dict[str, Any]) -> str:
    """The text of a file with these tables: values are texts, numbers, truth values, lists and objects of
    them; a list of objects is written as an array of tables. Raises `UsageError` for text that is not UTF-8.
    """
    lines: list[str] = []
    for name, table in tables.items():
        for one in table if isinstance(table, list) else [table]:
            lines.append(f"[[{name}]]" if isinstance(table, list) else f"[{name}]")
            lines += [f"{key} = {_value(value)}" for key, value in one.items()]
    text = "\n".join([*lines, ""])
    if not all(ord(character) < 0xD800 or ord(character) > 0xDFFF for character in text):
        raise UsageError("the command line is not UTF-8")
    return text


def _value(value: object) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_value(inner)}' for key, inner in value.items())} }}"
    # A text of JSON is one of TOML, but for DEL.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
