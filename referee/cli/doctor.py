"""`referee doctor`: measures the machine, and recommends settings for tournaments; or compares machines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import referee
from referee.cli.output import say, show_data
from referee.core.errors import EnvironmentLacksError, UsageError

if TYPE_CHECKING:
    from referee.machine.doctor import Diagnosis
    from referee.machine.measure import Figures


@click.command()
@click.option(
    "--workers",
    type=click.IntRange(0, 1000),
    help="Number of games at a time; 0 plays them in this process. Default: the number of usable cores "
    "minus one.",
)
@click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Measure and compare the machines of the Dask cluster at this address (`tcp://HOST:PORT`, "
    "`tls://HOST:PORT` or `local:N`).",
)
@click.option("--json", "as_json", is_flag=True, help="Print all figures as one JSON object.")
def doctor(workers: int | None, cluster: str | None, as_json: bool) -> None:
    """Measures this machine for a few seconds and recommends settings for tournaments on it, or measures and
    compares the machines of a cluster.

    Bots that move instantly play one game per worker at the same time, so the time of their moves is the
    overhead of the referee and the machine. Exits with 5 if this machine, or every machine of the cluster,
    cannot run tournaments.

    \b
    Examples:
      referee doctor
      referee doctor --workers 4 --json
      referee doctor --cluster tcp://10.0.0.1:8786
    """
    if cluster is not None:
        if workers is not None:
            raise UsageError(
                "`--workers` is given with `--cluster`, expected only one of them; a Dask "
                "worker has its own `--nthreads`"
            )
        from referee.cli.machines import compare_machines

        compare_machines(cluster, as_json)
        return
    from referee.machine.doctor import diagnose
    from referee.machine.measure import measure_machine
    from referee.tournament.file.config import default_workers

    workers = default_workers() if workers is None else workers
    say(f"measuring with workers = {workers}; this takes a few seconds")
    figures = measure_machine(workers, Path())
    diagnosis = diagnose(figures)
    show_data(json_of(figures, diagnosis) if as_json else _page(diagnosis))
    if diagnosis.lacks:
        raise EnvironmentLacksError(diagnosis.lacks[0].measured)


def _page(diagnosis: Diagnosis) -> str:
    """The report as text: the verdict, lines for a tournament file, and all findings."""
    from referee.cli.findings import findings_table

    parts = [_verdict(diagnosis)]
    if not diagnosis.lacks:
        parts.append(_toml(diagnosis))
    parts.append(findings_table(diagnosis.findings))
    return "\n\n".join(parts)


def _verdict(diagnosis: Diagnosis) -> str:
    if diagnosis.lacks:
        return "No tournament can be run here."
    count = len(diagnosis.warnings)
    warnings = f", with {count} warning{'s' if count > 1 else ''} (marked `!`)" if count else ""
    return f"A tournament can be run here{warnings}. Settings for its file:"


def _toml(diagnosis: Diagnosis) -> str:
    from referee.machine.doctor import PIN_ONLY

    advice = diagnosis.advice
    pin = f"true   # {PIN_ONLY}" if advice.pin else "false"
    return f'[tournament]\nworkers = {advice.workers}\nmargin = "{advice.margin_ms}ms"\npin = {pin}'


def json_of(figures: Figures, diagnosis: Diagnosis) -> str:
    """All figures and findings as a JSON object."""
    from referee.cli.findings import findings_as_data

    advice = diagnosis.advice
    return json.dumps(
        {
            "referee": referee.__version__,
            "can_run": not diagnosis.lacks,
            "advice": advice._asdict(),
            "findings": findings_as_data(diagnosis.findings),
            "figures": _plain(figures),
        },
        indent=2,
    )


def _plain(value: Any) -> Any:
    """Named tuples as JSON objects, also inside each other."""
    if not isinstance(value, tuple) or not hasattr(value, "_asdict"):
        return value
    return {name: _plain(what) for name, what in value._asdict().items()}
