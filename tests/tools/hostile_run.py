"""Writes runs in which every text that can be is hostile: `python -m tests.tools.hostile_run [DIR]`.

DIR must be new; if none is named it is below the folder for temporary files. In it are then two folders with
the results of a tournament, whose own names are markup. One name ends with `played`: that tournament was
really played, by bots that answer, explain and complain in markup, some of them until they commit a fault.
The other ends with `forged`: a copy as a stranger might send it. There all texts that a reader does not need
to find a game are hostile, some of them such as no bot could have written; some moves are no moves, some
times are as long as a record can say, and all hashes are right.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import click

from referee.core.fields import LARGEST
from referee.records.journal import FIRST, body_of, chained
from tests.bots.markup_bot import MARKUP
from tests.command import RANDOM, ROOT, in_python, referee

MARKUP_BOT = in_python(ROOT / "tests" / "bots" / "markup_bot.py", "-S")

FOLDER = '"><img src=x onerror=alert(0)>&lt;{{7*7}} '
"""How the names of the folders begin: as hostile as a path can be."""

UNPRINTABLE = "\x00 \x1b[2J \x9b \u202eevil\u2069 \u2028 \U0010ffff"
"""Characters that no bot can send in a message."""

UNWRITABLE = "\ud800 \udfff"
"""Lone surrogates, which JSON can hold, and no file in UTF-8. They are only in what no reader of a record
checks; anywhere else the record counts as damaged.
"""

TOURNAMENT = """\
[tournament]
rounds = 1
clock = "5s"
seed = "hostile"
workers = 1
keep = "all"
rejections = 1000

[[game]]
name = "open"
game = "blooms"
options = { size = 3 }

[[game]]
name = "hidden"
game = "floral"
options = { max_turns = 12 }
"""

BOTS = {"markup": "", "malformed": "malformed", "partial": "partial"}
"""The hostile bots, with what each is told of how to commit a fault."""


class Hostile(NamedTuple):
    """The folders of the two runs."""

    played: Path
    forged: Path


def write(folder: Path) -> Hostile:
    """Writes both runs into a new folder."""
    folder.mkdir(parents=True)
    file = folder / "hostile.toml"
    lines = [TOURNAMENT]
    for name, place in BOTS.items():
        arguments = " ".join(f"'{text}'" for text in MARKUP if "'" not in text)
        lines.append(f"[[bot]]\nname = {name!r}\ncmd = {json.dumps(f'{MARKUP_BOT} {place} {arguments}')}\n")
    lines.append(f"[[bot]]\nname = 'random'\ncmd = {json.dumps(RANDOM)}\n")
    file.write_text("\n".join(lines))
    done = referee("run", str(file))
    assert done.code == 0, done.err
    results = folder / "hostile-results"
    first = json.loads((results / "games.jsonl").read_text().splitlines()[1])["id"]
    done = referee("amend", str(results), "--annul", first, "--reason", MARKUP[1])
    assert done.code == 0, done.err
    played, forged = (folder / f"{FOLDER}{name}" for name in Hostile._fields)
    results.rename(played)
    forge(played, forged)
    return Hostile(played, forged)


def forge(played: Path, forged: Path) -> None:
    """Writes a copy of a run with hostile texts everywhere."""
    shutil.copytree(played, forged)
    texts, worse = _hostile_texts(UNPRINTABLE), _hostile_texts(UNPRINTABLE + UNWRITABLE)
    prev, data = FIRST, b""
    for number, line in enumerate((played / "games.jsonl").read_text().splitlines()):
        value = {name: what for name, what in json.loads(line).items() if name not in ("prev", "hash")}
        if value["kind"] == "game":
            _forge_game(value, number, texts)
            measured = value["measured"]
            events, machine = measured.pop("events"), measured.pop("machine")
            value["measured"] = {"events": events} | _with_texts(measured, worse)
            value["measured"]["machine"] = _with_texts(machine, texts)  # it is checked, unlike the rest
        else:
            _forge_terms(value, worse)
        whole, prev = chained(body_of(value), prev)
        data += whole
    (forged / "games.jsonl").write_bytes(data)
    dialogues = [json.loads(line) for line in (played / "dialogues.jsonl").read_text().splitlines()]
    for value in dialogues:
        value["dialogue"] = "\n".join(line + next(texts) for line in value["dialogue"].split("\n"))
    (forged / "dialogues.jsonl").write_text("".join(f"{json.dumps(value)}\n" for value in dialogues))


def _hostile_texts(characters: str) -> Iterator[str]:
    """All hostile texts in turn, for ever; every third ends with these characters."""
    for number in count():
        yield MARKUP[number % len(MARKUP)] + (characters if number % 3 == 0 else "")


def _forge_terms(value: dict[str, Any], texts: Iterator[str]) -> None:
    """Makes the texts of a header hostile, or those of a change of it."""
    for bot in value.get("bots", {}).values():
        bot |= {"command": [next(texts) for _ in bot["command"]], "cwd": next(texts)}
        bot["env"] = {next(texts): next(texts)}
    for files in value.get("files", {}).values():
        files[next(texts)] = next(texts)
    for name in value.get("annulled", {}):
        value["annulled"][name] = next(texts)
    if "when" in value:
        value["when"] = next(texts)


def _forge_game(value: dict[str, Any], number: int, texts: Iterator[str]) -> None:
    """Makes the texts of a game hostile. Of every third also what a replay finds out, so that it stops there,
    and of every fifth the times.
    """
    value["sentence"] = next(texts)
    for event in value["events"]:
        if "rejected" in event:
            event["rejected"] = next(texts)
    if number % 3 == 0:
        rejected = [event for event in value["events"] if "rejected" in event]
        for event in rejected[1:]:
            event |= {"reason": next(texts), "sentence": next(texts)}
        event = value["events"][-1]
        event |= {name: next(texts) for name in ("move", "default", "chance") if name in event}
    for event in value["measured"]["events"]:
        for name in ("info", "detail", "hint"):
            if name in event:
                event[name] = next(texts)
        if number % 5 == 0:
            event |= {name: LARGEST for name in event if name.endswith("_us")}


def _with_texts(value: Any, texts: Iterator[str]) -> Any:
    """The same value of JSON with other texts in it."""
    match value:
        case dict():
            return {name: _with_texts(what, texts) for name, what in value.items()}
        case list():
            return [_with_texts(what, texts) for what in value]
        case str():
            return next(texts)
        case _:
            return value


def new_folder() -> str:
    """A folder that is not there yet, below the one for temporary files."""
    return f"{tempfile.mkdtemp(prefix='hostile-')}/runs"


@click.command()
@click.argument("folder", metavar="[DIR]", default=new_folder, type=click.Path(path_type=Path))
def main(folder: Path) -> None:
    """Writes hostile runs into the new folder DIR, or a temporary one, and prints where they are."""
    for path in write(folder):
        click.echo(path)


if __name__ == "__main__":
    main()
