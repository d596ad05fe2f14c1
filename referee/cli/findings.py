"""Findings about a machine, as text and as data."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill
from typing import Any

from referee.core.rows import as_text
from referee.machine.doctor import Finding, Severity

WIDTH = 86
"""Width of the texts beside the names of the findings."""

_MARKS = {Severity.FINE: "", Severity.WARNING: "!", Severity.LACK: "!!"}


def findings_table(findings: Iterable[Finding]) -> str:
    """Findings one below the other, each with its mark and its name at the side."""
    rows = [[_MARKS[finding.level], finding.about, _text(finding)] for finding in findings]
    return as_text(rows, form="plain")


def _text(finding: Finding) -> str:
    lines = [f"{finding.measured}:", finding.meaning]
    if finding.advice:
        lines.append(f"→ {finding.advice}")
    return "\n".join(fill(line, WIDTH, break_on_hyphens=False) for line in lines)


def findings_as_data(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    """Findings as JSON has them."""
    return [{**finding._asdict(), "level": finding.level.value} for finding in findings]
