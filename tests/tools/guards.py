"""Whether the tests guard the guards: `python -m tests.tools.guards [--list] [NAME ...]`.

A comment `# guard: NAME` in the code marks each guard of the referee against its bots. Each is switched off
in a copy of the project, in the way that the table here says, and a test has to fail for it. Prints which;
ends with an error where a guard can be taken away unseen.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from tabulate import tabulate

from referee.processes.launcher import STARTS
from tests.command import ROOT
from tests.tools.changes import changed, first_failure, parsed, project_copy, spliced, text_of

MARKER = re.compile(r"  # guard: ([a-z-]+)$| /\* guard: ([a-z-]+) \*/$")
"""In Python, and in C."""


class Part(Enum):
    """What of the marked line is replaced: the innermost that begins on it or reaches over it."""

    STATEMENT = "statement"
    CONDITION = "condition"
    """Of an `if`, a `while` or a comprehension."""
    VALUE = "value"
    """What is assigned, returned or looped over, or one of several values that stand in brackets."""
    LINE = "line"
    """All of it, in C."""


class Guard(NamedTuple):
    """A marked line, what becomes of it without the guard, and where tests are that should notice."""

    name: str
    part: Part
    by: str
    """What the part is replaced by; `{}` in it is what stood there."""
    tests: str
    """What pytest is told to run."""


def dropped(name: str, tests: str) -> Guard:
    """The statement is left out."""
    return Guard(name, Part.STATEMENT, "pass", tests)


def never(name: str, tests: str) -> Guard:
    """The condition becomes False."""
    return Guard(name, Part.CONDITION, "False", tests)


def always(name: str, tests: str) -> Guard:
    """The condition becomes True."""
    return Guard(name, Part.CONDITION, "True", tests)


def compiled(name: str, tests: str) -> Guard:
    """The statement is left out, in C."""
    return Guard(name, Part.LINE, ";", tests)


def replaced(name: str, by: str, tests: str) -> Guard:
    """Another statement stands there."""
    return Guard(name, Part.STATEMENT, by, tests)


def valued(name: str, by: str, tests: str) -> Guard:
    """Another value stands there."""
    return Guard(name, Part.VALUE, by, tests)


PROCESSES = "tests/processes/test_processes.py"
NEEDS = "tests/unit/processes/test_needs.py"
STORE = "tests/unit/cluster/test_store.py"
BOT_FILES = "tests/unit/cluster/test_bot_files.py"
PERSONS = "tests/processes/test_persons.py"
AT_TERMINALS = "tests/processes/test_play_terminal.py"
FORMATS = "tests/unit/tournament/test_formats.py"
WARDENS = "tests/processes/test_wardens.py"
OUTSIDE_KILLS = "tests/processes/test_outside_kills.py"
KILLED = "tests/processes/test_killed_wardens.py"
ISOLATION = "tests/processes/test_isolation.py"
OWNED = "tests/processes/test_owned.py"
MOUNTS = "tests/processes/test_mounts.py"
ATTACKED = "tests/processes/test_attacked_workers.py"
STOPWATCH = "tests/unit/wire/test_stopwatch.py"
RESULTS = "tests/processes/test_results.py"
OPENINGS = "tests/unit/gameplay/test_openings.py"
SEEDS = "tests/processes/test_seeds.py"
DEVELOPING = "tests/unit/wire/test_developing.py"
SERVING = "tests/unit/serving/test_serving.py"
MACHINES = "tests/unit/cluster/test_cluster_backend.py"
SERVE = "tests/processes/test_serve.py"
STARTER = "tests/processes/test_starter.py"
BROWSER = "tests/unit/person/test_browser.py"

GUARDS = [
    replaced("read-only-mounts", "return ()", f"{MOUNTS} -k has_a_size"),
    dropped("devices", f"{MOUNTS} -k has_a_size"),
    valued("changed-mounts", "False", "tests/processes/test_prepared.py -k mounts_later"),
    replaced(
        "modes-of-links",
        "_succeeds(os.chmod, name, before | mode, dir_fd=parent)",
        "tests/processes/test_scratch_links.py",
    ),
    never("scratch-depth", f"{WARDENS} -k deep"),
    dropped("scratch-in-memory", f"{MOUNTS} -k memory"),
    dropped("repeated-games", "tests/unit/ratings/test_ratings.py -k repeat_each_other"),
    replaced(
        "deadline",
        "{}; seat_wire.watch.deadline_ns += 1",
        f"{PROCESSES} -k deadline",
    ),
    valued("deadline-after-rejection", "False", f"{PROCESSES} -k rejection"),
    dropped("last-look", f"{PROCESSES} -k written_in_time"),
    never("bytes-of-a-turn", f"{PROCESSES} -k flood"),
    never("lines-of-a-turn", f"{PROCESSES} -k flood"),
    never("bytes-of-a-line", f"{PROCESSES} tests/unit/wire/test_messages.py -k flood or line"),
    never("lists-of-a-question", "tests/unit/wire/test_sessions.py tests/unit/gameplay/test_match.py"),
    valued("late-strikes", "()", "tests/processes/test_amend.py -k killed"),
    never("other-code", f"{MACHINES} -k other_code"),
    valued("failing-machine", "True", f"{MACHINES} -k fails_again"),
    always("failed-together", f"{MACHINES} -k fails_together"),
    never("silent-machine", f"{MACHINES} -k not_heard_of"),
    never("shared-machine", f"{MACHINES} -k others_of_the_cluster"),
    never("endless-task", f"{MACHINES} -k longer"),
    always("unfit-bots", f"{MACHINES} -k no_machine_can_prepare"),
    valued("other-machines", "best", f"{MACHINES} -k all_machines_have_answered"),
    never("lacking-machine", f"{MACHINES} -k lacks_a_bot"),
    valued("what-was-asked", "True", f"{MACHINES} -k not_believed"),
    valued("lost-again-and-again", "False", "tests/unit/tournament/test_dispatcher.py -k again_and_again"),
    valued(
        "another-attempt",
        "task is not None",
        "tests/unit/tournament/test_dispatcher.py -k another_attempt",
    ),
    never("strikes-between-games", "tests/processes/test_amend.py -k killed"),
    never("stopping-after-strikes", "tests/unit/tournament/test_remaining.py -k interval"),
    never("openings", OPENINGS),
    never("starts", "tests/unit/gameplay/test_starts.py"),
    always("open-openings", OPENINGS),
    never("openings-of-open-games", OPENINGS),
    replaced("group-kill", "os.kill(self._bot, number)", WARDENS),
    dropped("orphans", WARDENS),
    replaced("killed-referee", "return", WARDENS),
    dropped("killed-warden", "tests/processes/test_catalogue.py -k all_above_it"),
    valued("killed-warden-tree", "False", f"{WARDENS} -k killed_warden_leaves"),
    valued("killed-launcher", "range(1)", WARDENS),
    never("stopped-worker", f"{ATTACKED} -k again"),
    never("silent-worker", f"{ATTACKED} -k blocked"),
    dropped("stopped-launcher", f"{ATTACKED} -k launcher"),
    dropped("sub-reaper", f"{ATTACKED} -k leaves"),
    dropped("hidden", f"{ATTACKED} -k closed"),
    valued("bought-void", "False", "tests/unit/tournament/test_voids.py"),
    always("request-sent-once", f"{WARDENS} -k sent_once"),
    never("warden-killed-at-once", f"{WARDENS} -k at_once"),
    never("lost-warden", OUTSIDE_KILLS),
    valued("wrapper-killed", "False", f"{OUTSIDE_KILLS} -k bwrap_process"),
    valued("first-process", "status == -signal.SIGKILL", f"{OUTSIDE_KILLS} -k first_process"),
    valued("forgiven-voids", "self.voids", "tests/processes/test_amend.py -k played_again"),
    never("out-of-memory", "tests/processes/test_memory.py -k landlock"),
    never("memory-of-workers", "tests/unit/tournament/test_suspects_of_workers.py"),
    dropped("own-oom-score", f"{ISOLATION} -k killed_first"),
    never("endless-attempts", f"{OUTSIDE_KILLS} -k attempts"),
    never("processes", WARDENS),
    never("memory", WARDENS),
    valued("memory-of-each", "self.share", "tests/unit/processes/test_limits.py"),
    never("files-in-memory", f"{WARDENS} -k memory"),
    valued("cost-of-checks", "INTERVAL_S", "tests/unit/processes/test_usage.py"),
    never("scratch-bytes", f"{WARDENS} -k scratch"),
    never("scratch-files", f"{WARDENS} -k scratch"),
    never("own-mounts", "tests/unit/processes/test_usage.py"),
    dropped("limits-of-the-kernel", WARDENS),
    valued("own-group", "os.fork()", "tests/processes/test_cgroups.py"),
    dropped("kill-of-the-group", "tests/processes/test_cgroups.py"),
    dropped("pause", "tests/processes/test_off_turn.py"),
    valued("own-load", "0", "tests/unit/processes/test_cpu.py"),
    valued("waiting-helper", "max(running_waits_ns, default=0)", "tests/unit/processes/test_cpu.py"),
    never("own-time", STOPWATCH),
    never("ready-since", STOPWATCH),
    valued("held-back", "kept_us", STOPWATCH),
    valued("waited-once", "waited_ns", STOPWATCH),
    valued("late-once", "late_ns", STOPWATCH),
    valued("longest-wait", "until_ns - due_ns", STOPWATCH),
    dropped("resume", "tests/processes/test_off_turn.py"),
    valued("links-of-bots", "False", NEEDS),
    always("hidden-names", f"{ISOLATION} -k names_it"),
    always("named-by-bots", NEEDS),
    never("escaping", "tests/processes/test_escaping.py"),
    always("drain-of-stderr", f"{PROCESSES} -k stderr"),
    dropped("off-turn-first", f"{PROCESSES} -k thought"),
    never("death-with-open-output", "tests/unit/wire/test_process_wire.py"),
    valued("stamp", "None", STOPWATCH),
    never("last-write", STOPWATCH),
    dropped("stopped-before-writing", "tests/unit/wire/test_process_wire.py"),
    dropped("stopped-before-reading", "tests/unit/wire/test_process_wire.py"),
    valued("unread-request", "watch.is_over(time.monotonic_ns())", "tests/unit/wire/test_process_wire.py"),
    dropped("emptied", "tests/unit/wire/test_process_wire.py"),
    valued("clock-was-set", "0", STOPWATCH),
    valued("stoppages", "0", f"{PROCESSES} -k stop"),
    replaced("regular-files", "file = os.open(path, os.O_RDONLY)", "tests/unit/core/test_files.py"),
    dropped("garbage", "tests/processes/test_time.py"),
    valued(
        "margin",
        "self.control.move_us + self.reserve_us",
        "tests/unit/gameplay/test_match.py tests/unit/gameplay/test_clock.py",
    ),
    dropped("fresh-after-fault", f"{PROCESSES} -k fresh_after_a_fault"),
    always("environment", f"{PROCESSES} -k environment"),
    dropped("user", f"{ISOLATION} -k user"),
    dropped("no-new-privileges", f"{ISOLATION} -k privileges"),
    dropped("capabilities", f"{ISOLATION} -k rights"),
    dropped("landlock", f"{ISOLATION} -k works_where"),
    dropped("system-calls", f"{ISOLATION} -k beyond"),
    dropped("counted-refusals", "tests/processes/test_refused.py -k counted"),
    valued("most-refusals", "True", "tests/processes/test_refused.py -k counted"),
    replaced("hidden-files", "found.append(bot)", f"{ISOLATION} -k hidden"),
    never("named-level", f"{ISOLATION} -k missing"),
    never("settled-level", f"{ISOLATION} -k not_settled"),
    never("owners-elsewhere", OWNED),
    never("left-by-others", OWNED),
    always("left-links", OWNED),
    always("living-owners", OWNED),
    never("regular", f"{RESULTS} -k regular or dialogues"),
    never("replaced-file", f"{RESULTS} -k notices"),
    never("length-of-file", f"{RESULTS} -k notices"),
    never("content-of-file", f"{RESULTS} -k notices"),
    dropped("lock-of-records", f"{RESULTS} -k second_referee"),
    always("removed-lock", "tests/unit/tournament/test_lock.py"),
    never("line-read-again", "tests/unit/serving/test_follower.py"),
    valued("shared-chance", "True", SERVING),
    valued("told-in-play", "True", "tests/unit/live/test_feed.py -k others_will_meet"),
    never("shared-start", f"{SERVING} -k start"),
    never("kept-back", SERVING),
    never("host-header", SERVING),
    never("connections", f"{SERVE} -k bounded"),
    replaced("slow-requests", "self._request_due = None", f"{SERVE} -k hang"),
    replaced("slow-readers", "self._write_due = None", f"{SERVE} -k hang"),
    never("duplicate-games", f"{RESULTS} -k schedule"),
    never("attempts", f"{RESULTS} -k schedule"),
    never("void-after-game", "tests/unit/tournament/test_run_state.py -k lines_that_cannot"),
    dropped("wait-for-round", FORMATS),
    dropped("wait-for-wave", FORMATS),
    dropped("wait-for-stage", "tests/unit/tournament/test_stages.py"),
    never("several-seats", FORMATS),
    never("rounds", FORMATS),
    replaced("stderr-of-dialogues", "pass", DEVELOPING),
    dropped("input-of-one-process", DEVELOPING),
    never("head-hash", f"{RESULTS} -k head_hash"),
    never("hidden-seed", SEEDS),
    never("seed-hash", SEEDS),
    never("other-clocks", "tests/unit/records/test_records.py -k clocks"),
    never("machine-texts", "tests/unit/records/test_played_on.py"),
    never("revealed-seeds", SEEDS),
    never("one-shared-seed", SEEDS),
    always("whole-lines", SEEDS),
    never("size-of-programs", "tests/unit/tournament/test_hashes.py"),
    never("links-of-files", f"{BOT_FILES} -k links"),
    never("files-left-out", f"{BOT_FILES} -k left_out"),
    valued("content-of-archives", "True", f"{STORE} -k content"),
    dropped("paths-in-files", f"{STORE} -k paths_that_lead"),
    never("shared-bots", f"{STORE} -k shared"),
    never("changed-files", f"{STORE} -k put_back"),
    dropped("store-lock", "tests/processes/test_store.py -k once"),
    dropped("bots-in-use", f"{STORE} -k in_use"),
    never("owner-of-store", f"{STORE} -k user"),
    valued("own-certificate", "Security()", "tests/processes/test_connecting.py -k certificate"),
    never("programs", "tests/processes/test_tournament.py -k program"),
    never("renamed-bots", "tests/processes/test_amend.py -k forged"),
    never("changed-programs", "tests/unit/ratings/test_tables.py -k program"),
    never("repeated-pairs", "tests/unit/ratings/test_tables.py -k pairs"),
    never("decided-test", "tests/unit/tournament/test_stopping.py -k once_and_for_all"),
    always("hidden-hands", "tests/rules/test_leaks.py -k picture"),
    always("hidden-gardens", "tests/rules/test_leaks.py -k picture"),
    always("hidden-chains", "tests/rules/test_floral.py -k spells_of_those"),
    valued("hidden-runes", "side.symbols", "tests/rules/test_leaks.py -k picture"),
    always("hidden-weather", "tests/rules/test_leaks.py -k picture"),
    valued("begun-of-others", "self.begun", "tests/rules/test_pettingzoo.py -k begun"),
    valued("refusals-of-others", "True", "tests/unit/gameplay/test_moves.py -k another_seat"),
    always("damage-of-others", "tests/unit/viewing/test_steps.py -k damaged"),
    valued("info-of-others", "event", "tests/unit/pages/test_game_data.py -k open_game"),
    valued("drawn-text", "text", "tests/unit/viewing/test_svg.py -k valid_xml"),
    valued("drawn-rows", "text", "tests/unit/viewing/test_svg.py -k valid_xml"),
    valued("written-by-others", "range(count)", "tests/unit/pages/test_game_data.py -k secrets"),
    valued("faults-of-others", "list(fault_report(record))", "tests/unit/pages/test_game_data.py -k fault"),
    never("analysis-of-others", "tests/unit/pages/test_game_analysis.py -k seat"),
    dropped("report-place", "tests/unit/pages/test_report.py"),
    never("terms-of-games", "tests/unit/cluster/test_cluster_backend.py -k record"),
    dropped("replayed-games", "tests/unit/cluster/test_cluster_backend.py -k record"),
    always("events-of-others", "tests/rules/test_views.py"),
    valued("chance-of-games", "tuple(decided)", "tests/rules/test_views.py -k moves"),
    always("reserves-of-others", "tests/rules/test_views.py"),
    dropped("page-escaping", "tests/unit/pages/test_pages.py"),
    valued("page-scripts", "\"script-src 'unsafe-inline'\"", "tests/unit/pages/test_pages.py"),
    never("persons", PERSONS),
    always("screens", f"{AT_TERMINALS} -k secrets"),
    always("tokens", f"{BROWSER} -k links"),
    never("origin", f"{BROWSER} -k page_itself"),
    never("long-bodies", f"{BROWSER} -k page_itself"),
    always("texts-of-others", f"{BROWSER} -k alone"),
    valued("views-of-others", "self._known(None)", f"{BROWSER} -k cannot_know"),
    always("repeats-in-a-test", "tests/unit/tournament/test_stopping.py -k repeats"),
    compiled("killed-warden-compiled", STARTER),
    compiled("limits-compiled", STARTER),
    compiled("user-compiled", STARTER),
    compiled("capabilities-compiled", STARTER),
    compiled("no-new-privileges-compiled", STARTER),
    compiled("landlock-compiled", STARTER),
    compiled("system-calls-compiled", STARTER),
]


def markers(root: Path = ROOT) -> Iterator[tuple[str, Path, int]]:
    """The guards that are marked in the code: name, file and line."""
    sources = [*(root / "referee").rglob("*.py"), *(root / "protocol").glob("*.py")]
    for path in sorted([*sources, *(root / "referee" / "processes").glob("*.c")]):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := MARKER.search(line):
                yield found[1] or found[2], path, number


def without(guard: Guard, source: str, line: int) -> str:
    """The source with the guard switched off that is marked on this line.

    Raises `ValueError` where the line has no such part.
    """
    if guard.part is Part.LINE:
        lines = source.splitlines(keepends=True)
        lines[line - 1] = f"{guard.by}\n"
        return "".join(lines)
    parts = [part for part in _parts(parsed(source), guard.part, line) if reaches(part, line)]
    if not parts:
        raise ValueError(f"the line of guard `{guard.name}` has no {guard.part.value}")
    part = min(parts, key=lambda part: len(text_of(source, part)))
    return spliced(source, part, guard.by.replace("{}", text_of(source, part)))


def _parts(tree: ast.AST, part: Part, line: int) -> Iterator[ast.expr | ast.stmt]:
    """The parts of this kind in what reaches over a line."""
    for node in _around(tree, line):
        match part, node:
            case Part.STATEMENT, ast.stmt() if not hasattr(node, "body"):
                yield node
            case Part.CONDITION, ast.If() | ast.While() | ast.IfExp():
                yield node.test
            case Part.CONDITION, ast.comprehension():
                yield from node.ifs
            case Part.VALUE, ast.Assign() | ast.AnnAssign() | ast.Return() if node.value:
                yield node.value
            case Part.VALUE, ast.For():
                yield node.iter
            case Part.VALUE, ast.Tuple() | ast.List():
                yield from node.elts
            case _:
                pass


def _around(node: ast.AST, line: int) -> Iterator[ast.AST]:
    """A node and all below it that reach over a line, or have no place of their own."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.expr | ast.stmt) or reaches(child, line):
            yield from _around(child, line)


def reaches(part: ast.expr | ast.stmt, line: int) -> bool:
    """Whether a line is one of those of a part."""
    return part.lineno <= line <= (part.end_lineno or part.lineno)


def main(names: list[str]) -> None:
    """Switches off those guards whose name begins with one of these, or all."""
    os.environ.setdefault(STARTS, "python")  # its guards are those in Python
    guards = [guard for guard in GUARDS if not names or guard.name.startswith(tuple(names))]
    rows = []
    with project_copy() as copy:
        marked = {name: (path, line) for name, path, line in markers(copy)}
        for guard in guards:
            path, line = marked[guard.name]
            tests, _, wanted = guard.tests.partition(" -k ")
            choice = ["-k", wanted] if wanted else []
            with changed(path, without(guard, path.read_text(), line)):
                failed = first_failure(copy, ["-m", "", *tests.split(), *choice])
            rows.append([guard.name, failed or "NOTHING FAILS"])
            print("." if failed else "!", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(tabulate(rows, ["without", "fails"]))
    if any(failed == "NOTHING FAILS" for _, failed in rows):
        sys.exit(1)


if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(guard.name for guard in GUARDS))
    else:
        main(sys.argv[1:])
