"""Measures every machine of a cluster, by `referee doctor` in a process of its own there."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.cluster import calls
from referee.cluster.comparing import MeasuredMachine, UnmeasuredMachine, read_report
from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown

if TYPE_CHECKING:
    from distributed import Client, Future

ANSWER_S = 90
"""Seconds after which a machine that has not been measured is given up."""


class KnownMachine(NamedTuple):
    """A machine of a cluster, as the scheduler knows it."""

    address: str
    worker: str
    """The address of one of its Dask workers."""
    slots: int
    """The threads of all its Dask workers."""


def hosts(client: Client) -> list[KnownMachine]:
    """The machines of a cluster: Dask workers with the same IP address are on the same machine.

    Raises `EnvironmentLacksError` if there are none.
    """
    found: dict[str, KnownMachine] = {}
    for worker, about in client.scheduler_info(n_workers=-1)["workers"].items():
        before = found.get(about["host"], KnownMachine(about["host"], worker, 0))
        found[about["host"]] = before._replace(slots=before.slots + about["nthreads"])
    if not found:
        raise EnvironmentLacksError("the cluster has no Dask workers; start some with `dask worker ADDRESS`")
    return [*found.values()]


def measure_hosts(
    client: Client, machines: list[KnownMachine], seconds: float
) -> Iterator[tuple[MeasuredMachine | UnmeasuredMachine, Any]]:
    """Measures all these machines at the same time; gives each with its whole report, which is None where it
    could not be measured within this many seconds.
    """
    until = time.monotonic() + seconds
    reports = [_begin(client, machine, seconds) for machine in machines]
    for machine, future in zip(machines, reports, strict=True):
        try:
            report = json.loads(_result(future, until))
            yield read_report(machine.address, machine.slots, report), report
        except (EnvironmentLacksError, ValueError, RecursionError) as error:
            yield UnmeasuredMachine(machine.address, machine.slots, shown(str(error), 400)), None


def _begin(client: Client, machine: KnownMachine, seconds: float) -> Future[str]:
    call = calls.as_bytes(doctor_here, machine.slots, 0.9 * seconds)
    return client.submit(calls.made, call, workers=[machine.worker], pure=False, priority=1, retries=0)


def _result(future: Future[str], until: float) -> str:
    """The text that a machine printed. Raises `EnvironmentLacksError` if there is none."""
    try:
        return str(future.result(timeout=max(0.01, until - time.monotonic())))
    except EnvironmentLacksError:
        raise
    except TimeoutError:
        future.cancel()
        why = "it does not answer; its Dask worker may be busy, stopped or gone"
    except ImportError:
        why = "the referee is not installed there, or is a different version"
    except Exception as error:  # whatever was raised there, or by Dask
        why = str(error) or type(error).__name__
    raise EnvironmentLacksError(why)


def doctor_here(workers: int, seconds: float) -> str:
    """Returns what `referee doctor --json` prints on this machine, for this number of games at a time.

    Measuring starts processes and sets up the whole process for that, so it is done in one of its own. Raises
    `EnvironmentLacksError` where it fails or takes longer than this.
    """
    program = f"import sys; sys.path[:] = {sys.path}; from referee.__main__ import main; main()"
    command = [sys.executable, "-c", program, "doctor", "--json", "--workers", str(workers)]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=seconds,
            cwd=tempfile.gettempdir(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise EnvironmentLacksError(f"measuring took longer than {seconds:.0f} s") from None
    except OSError as error:
        raise EnvironmentLacksError(f"cannot start a process: {error.strerror}") from None
    if not done.stdout:
        raise EnvironmentLacksError(done.stderr.strip().rpartition("\n")[2] or "`doctor` printed nothing")
    return done.stdout
