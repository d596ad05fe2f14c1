"""`referee verify`: replays every record and compares everything."""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import click

from referee.cli.options import game_option, outside_game
from referee.cli.output import count_text, say, show_data
from referee.core.cores import usable_cores
from referee.core.errors import RecordError, UsageError
from referee.core.text import shown

_HASH = re.compile(r"[0-9a-f]{64}")

_MAX_SHOWN = 20
"""How many lines with problems are printed; a file that is not a file of records has one in every line."""


@click.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--head", "noted", metavar="HASH", help="The head hash that was printed for these records.")
@click.option(
    "--workers",
    type=click.IntRange(0, 1000),
    help="Processes that replay the games; with 0, this one. Default: as many as there are usable cores.",
)
@game_option
def verify(file: Path, noted: str | None, workers: int | None, game: str | None) -> None:
    """Replays every game in FILE, with its rules and clocks, and compares everything.

    FILE is a file of records, a folder with one, or a tournament file, which stands for its results.
    Prints the number of games and the hash of the last line. This head hash is also printed at the end of
    a run and by `table`: note it, and --head detects later that records are missing at the end or that the
    whole file was written anew. More records may follow the one with this hash.

    \b
    Examples:
      referee verify results
      referee verify results --head HASH
    """
    from referee.records import journal
    from referee.records.examining import examined_lines
    from referee.records.header import seats_of
    from referee.records.replay import RunVerifier
    from referee.tournament.reading import records_at
    from referee.tournament.run import check_attempts
    from referee.tournament.scheduled import Scheduled

    if noted is not None and not _HASH.fullmatch(noted):
        raise UsageError(f"`--head` is `{shown(noted, 80)}`, expected a hash of 64 hexadecimal digits")
    file = records_at(file)
    audit = RunVerifier(lambda header: Scheduled(header).check, outside_game(game))
    attempts: dict[str, int] = {}
    failed_lines = 0
    head = journal.FIRST
    lines_after: int | None = None
    count = len(usable_cores()) if workers is None else workers
    with closing(examined_lines(journal.read(file), count)) as lines:
        for line, found in lines:
            problems = [line.error] if line.error else []
            name = ""
            if found.value.get("kind") == "game":
                name = f" (game {shown(str(found.value.get('id')), 100)})"
            try:
                audit.take(found)
                if name:
                    attempts[found.value["id"]] = found.value["attempt"]
            except RecordError as error:
                problems += [] if problems and not name else [str(error)]
            head = line.hash
            if head == noted:
                lines_after = 0
            elif lines_after is not None:
                lines_after += 1
            if problems:
                failed_lines += 1
                if failed_lines <= _MAX_SHOWN:
                    say(f"line {line.number}{name}: {'; '.join(problems)}")
    if failed_lines:
        raise RecordError(
            f"{failed_lines} line{'s' * (failed_lines > 1)} of `{shown(str(file))}` failed verification"
        )
    if not audit.ids:
        raise RecordError(f"no games in `{shown(str(file))}`, expected at least one")
    if audit.unverified_seeds:
        say(
            f"the seeds of {audit.unverified_seeds} games are not verified: the seed that they follow from "
            "is not revealed here; a run reveals it when it ends or is stopped, but not when it is killed"
        )
    if file.is_dir():
        check_attempts(file, audit.header, attempts)
    if noted is not None and lines_after is None:  # guard: head-hash
        raise RecordError(
            f"no line of `{shown(str(file))}` has the head hash `{noted}`: "
            "records are missing at the end, or were written anew"
        )
    played = count_text(
        len(audit.ids), Scheduled(audit.header).games_in_all(seats_of(audit.header, audit.seats))
    )
    show_data(f"{played} verified, last hash {head}")
    if lines_after is not None:
        show_data(f"the records up to the head hash are as they were; lines after it: {lines_after}")
