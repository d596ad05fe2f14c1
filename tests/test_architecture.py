"""The floors: a module imports only from below, so there are no cycles."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import protocol
import referee
from referee.games import GAMES

ROOT = Path(referee.__file__).parent

FLOORS = [
    ["referee", "referee.errors", "referee.text", "referee.rng", "referee.instant_bot"],
    ["referee.clock", "referee.fields", "referee.stop"],
    ["referee.limits"],
    ["referee.bots"],
    ["referee.games.api", "referee.games.trail", "referee.games.grid"],
    [f"referee.games.{slug}" for slug in GAMES],
    ["referee.games"],
    ["referee.kit"],
    ["referee.events", "referee.ratings", "referee.ratings.two"],
    ["referee.ratings.pool"],
    ["referee.wire", "referee.wire.api", "referee.wire.hints", "referee.wire.stamped", "referee.wire.warden"],
    ["referee.wire.channel", "referee.wire.cpu", "referee.wire.recorded"],
    ["referee.wire.process", "referee.machine"],
    ["referee.wire.pty", "referee.wire.stopwatch"],
    ["referee.wire.link"],
    ["referee.wire.pipes"],
    ["referee.match"],
    ["referee.record", "referee.schedule"],
    ["referee.journal", "referee.plan"],
    ["referee.replay"],
    ["referee.show", "referee.encounter", "referee.config", "referee.report"],
    ["referee.workers"],
    ["referee.tournament", "referee.measure"],
    ["referee.doctor"],
    ["referee.check", "referee.check.words", "referee.check.witness", "referee.check.table"],
    ["referee.check.subject"],
    ["referee.check.bench"],
    ["referee.check.acquaintance"],
    ["referee.check.steps"],
    ["referee.check.course"],
    ["referee.check.report"],
    ["referee.cli.output", "referee.cli.given"],
    ["referee.cli.telling"],
    ["referee.cli.match", "referee.cli.games", "referee.cli.replay", "referee.cli.verify"],
    ["referee.cli.run", "referee.cli.table", "referee.cli.find", "referee.cli.doctor", "referee.cli.check"],
    ["referee.cli"],
    ["referee.__main__"],
]

PURE = ["referee.match", "referee.events", "referee.clock", "referee.rng", "referee.record", "referee.replay"]
PURE += [
    "referee.limits",
    "referee.wire.api",
    "referee.wire.channel",
    "referee.wire.recorded",
    *(f"referee.games.{slug}" for slug in GAMES),
]
PURE += ["referee.doctor"]
IMPURE = {"os", "subprocess", "selectors", "time", "signal", "socket", "threading", "random", "pathlib"}


def modules(package: Path, name: str) -> dict[str, Path]:
    found = {}
    for path in sorted(package.rglob("*.py")):
        parts = [name, *path.relative_to(package).with_suffix("").parts]
        found[".".join(parts).removesuffix(".__init__")] = path
    return found


def imports(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_every_module_stands_on_a_floor_and_imports_from_below() -> None:
    floor = {name: number for number, names in enumerate(FLOORS) for name in names}
    ours = modules(ROOT, "referee")
    assert set(ours) == set(floor)
    for name, path in ours.items():
        for other in imports(path) & set(ours):
            assert floor[other] < floor[name] or other == "referee", f"{name} imports {other}"


def test_the_protocol_imports_nothing_but_itself_and_the_standard_library() -> None:
    for name, path in modules(Path(protocol.__file__).parent, "protocol").items():
        for other in imports(path):
            assert other.split(".")[0] in {*sys.stdlib_module_names, "protocol"}, f"{name} imports {other}"
            assert not (name == "protocol.bot" and other.startswith("protocol")), "bot.py can be copied away"


def test_the_pure_core_touches_no_clock_no_file_and_no_process() -> None:
    ours = {**modules(ROOT, "referee"), **modules(Path(protocol.__file__).parent, "protocol")}
    for name in (*PURE, "protocol.messages", "protocol.session"):
        assert not imports(ours[name]) & IMPURE, name
