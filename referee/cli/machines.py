"""The machines of a cluster, measured and compared: as a page, or as data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import referee
from referee.cli.findings import findings_as_data, findings_table
from referee.cli.output import say, show_data
from referee.cluster.comparing import MeasuredMachine, UnmeasuredMachine, compare, shares_of_fastest
from referee.cluster.connecting import connected
from referee.cluster.measuring import ANSWER_S, hosts, measure_hosts
from referee.cluster.open_ports import access, ports_of_cluster
from referee.core.errors import EnvironmentLacksError
from referee.core.rows import as_text
from referee.core.text import counted, listed
from referee.core.units import about
from referee.machine.doctor import Finding


def compare_machines(address: str, as_json: bool) -> None:
    """Measures the machines of the cluster at an address, and prints how they compare.

    Raises `EnvironmentLacksError` if no tournament can be run on any of them.
    """
    reports: dict[str, Any] = {}
    machines: list[MeasuredMachine | UnmeasuredMachine] = []
    with connected(address) as client:
        found = hosts(client)
        say(f"measuring {counted(len(found), 'machine')}; this takes up to {ANSWER_S} seconds")
        for machine, report in measure_hosts(client, found, ANSWER_S):
            machines.append(machine)
            reports[machine.address] = report
        scheduler = str(client.scheduler_info()["address"])
        open_to = (*access(scheduler, ports_of_cluster(client)),)
    findings = (*compare(machines, referee.__version__), *open_to)
    show_data(data_of(machines, reports, findings) if as_json else page_of(machines, findings))
    if not any(isinstance(machine, MeasuredMachine) and machine.can_play for machine in machines):
        raise EnvironmentLacksError("none of the machines in this cluster can run a tournament")


def page_of(machines: Sequence[MeasuredMachine | UnmeasuredMachine], findings: Sequence[Finding]) -> str:
    """The table of machines, what differs between them, and the warnings of each."""
    measured = [machine for machine in machines if isinstance(machine, MeasuredMachine)]
    parts = [_table(measured)] if measured else []
    if findings:
        parts.append(findings_table(findings))
    warned = [machine for machine in measured if machine.warnings]
    if warned:
        parts.append("Warnings from the machines (for `workers`, set the threads of their Dask workers):")
    parts += [f"{machine.label}:\n\n{findings_table(machine.warnings)}" for machine in warned]
    return "\n\n".join(parts)


def _table(machines: Sequence[MeasuredMachine]) -> str:
    shares = shares_of_fastest(machines)
    rows = [
        {
            "machine": one.label,
            "processor": one.cpu,
            "cores": str(one.cores),
            "games": str(one.slots),
            "speed": f"{shares[one.address]} %" if one.address in shares else "?",
            "slow moves": "?" if one.slow_us is None else about(one.slow_us),
            "isolation": listed(one.isolation) or "none",
        }
        for one in machines
    ]
    return as_text((list(row.values()) for row in rows), list(rows[0]))


def data_of(
    machines: Sequence[MeasuredMachine | UnmeasuredMachine],
    reports: dict[str, Any],
    findings: Sequence[Finding],
) -> str:
    """Everything as a JSON object."""
    shares = shares_of_fastest(machine for machine in machines if isinstance(machine, MeasuredMachine))
    rows = [
        {
            "address": machine.address,
            "slots": machine.slots,
            "speed_percent": shares.get(machine.address),
            "failure": machine.why if isinstance(machine, UnmeasuredMachine) else "",
            "report": reports[machine.address],
        }
        for machine in machines
    ]
    data = {"referee": referee.__version__, "findings": findings_as_data(findings), "machines": rows}
    return json.dumps(data, indent=2)
