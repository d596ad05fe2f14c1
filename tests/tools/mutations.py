"""Whether tests notice small wrong changes of the core: `python -m tests.tools.mutations [MODULE ...]`.

Changes are drawn from all that `ast` finds in the modules below, and made one at a time in copies of the
project, where the tests that are named there for the module have to notice. The same seed draws the same
changes of the same code. Prints how many were noticed in each module, and those that were not, some of which
make no difference; ends with an error where there is one.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tabulate import tabulate

from tests.command import ROOT
from tests.tools.changes import changed, first_failure, parsed, project_copy, spliced, text_of


def _tests(folder: str, *names: str) -> str:
    return " ".join(f"tests/unit/{folder}/test_{name}.py" for name in names)


MATCH = _tests("gameplay", "match")
RATINGS = _tests("ratings", "ratings", "tables")
FORMATS = _tests("tournament", "formats", "knockout", "swiss")
SESSIONS = _tests("wire", "sessions", "process_wire", "messages")

MODULES = {
    "asking/asked_game": "tests/unit/asking/test_asked_game.py",
    "gameplay/loop": f"{MATCH} tests/unit/gameplay/test_starts.py",
    "gameplay/clock": f"tests/unit/gameplay/test_clock.py {MATCH}",
    "core/units": "tests/unit/gameplay/test_clock.py",
    "core/seeds": f"tests/unit/core/test_seeds.py {MATCH}",
    "records/run_files": "tests/unit/records/test_journal.py",
    "records/journal": f"{_tests('records', 'journal', 'records')} {_tests('serving', 'follower')}",
    "tournament/formats/balanced": f"tests/unit/tournament/test_balanced.py {FORMATS}",
    "tournament/formats/fixed": FORMATS,
    "tournament/formats/knockout": FORMATS,
    "tournament/formats/matching": FORMATS,
    "tournament/formats/section": FORMATS,
    "tournament/formats/swiss": FORMATS,
    "tournament/formats/tie_breaks": FORMATS,
    "tournament/formats/league_choice": "tests/unit/tournament/test_league.py",
    "ratings/tally": RATINGS,
    "ratings/dispersion": RATINGS,
    "ratings/likelihood": RATINGS,
    "ratings/standings": RATINGS,
    "ratings/pool": RATINGS,
    "ratings/posterior": RATINGS,
    "ratings/sprt": "tests/unit/ratings/test_sprt.py",
    "ratings/two": RATINGS,
    "wire/referee_session": f"{MATCH} {SESSIONS} tests/processes/test_hints.py",
    "wire/stopwatch": "tests/unit/wire/test_stopwatch.py tests/unit/wire/test_process_wire.py",
}
"""The modules of the core, below `referee/`, and the tests that probably notice what is wrong there."""


class Mutant(NamedTuple):
    """A module in which one thing is wrong."""

    module: str
    function: str
    """Where it is: the names of the classes and functions around it, with dots between."""
    before: str
    after: str
    source: str
    """The whole module with it."""

    @property
    def title(self) -> str:
        """What is wrong where, in one line."""
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.module} {self.function}: `{before}` → `{after}`"


def source_of(module: str) -> str:
    """The module as it is."""
    return (ROOT / "referee" / f"{module}.py").read_text()


_OPPOSITES: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}
_OTHER_NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}
_EXACT_OPPOSITES = (ast.Eq, ast.NotEq, ast.In, ast.NotIn, ast.Is, ast.IsNot)
"""Of a condition that is one of these comparisons, the opposite operator is the negation."""


def mutants(module: str) -> list[Mutant]:
    """The module with one thing wrong, in every way that is known here, in the order of the places."""
    source = source_of(module)
    return [
        Mutant(module, function, text_of(source, part), after, spliced(source, part, after))
        for function, node in _places(parsed(source))
        for part, after in _wrong(source, node)
    ]


def _places(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.AST]]:
    """What the code of a module consists of, each with the function that it is in; without annotations and
    defaults, without whether `zip` checks the lengths, which are equal in right code, and without texts in
    braces, whose places are not known exactly.
    """
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.arguments() | ast.JoinedStr() | ast.keyword(arg="strict"):
                pass
            case ast.AnnAssign(value=value):
                yield from _places(ast.Expression(value), function) if value else ()
            case ast.FunctionDef(name=name, body=body) | ast.ClassDef(name=name, body=body):
                yield from _places(ast.Module(body, []), f"{function}.{name}".lstrip("."))
            case _:
                yield function or "(module)", node
                yield from _places(node, function)


def _wrong(source: str, node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, str]]:  # noqa: C901
    """Parts of a node, each with what may stand in its place and is wrong."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=right) if type(op) in _OPPOSITES:
            yield node, ast.unparse(ast.Compare(left, [_OPPOSITES[type(op)]()], right))  # type: ignore[list-item]
        case ast.BoolOp(op=op, values=values) if type(op) in _OPPOSITES:
            yield node, ast.unparse(ast.BoolOp(_OPPOSITES[type(op)](), values))  # type: ignore[arg-type]
        case ast.BinOp(left=one, op=op, right=other) if type(op) in _OPPOSITES:
            yield node, ast.unparse(ast.BinOp(one, _OPPOSITES[type(op)](), other))  # type: ignore[arg-type]
        case ast.AugAssign(target=target, op=op, value=value) if type(op) in _OPPOSITES:
            yield node, ast.unparse(ast.AugAssign(target, _OPPOSITES[type(op)](), value))  # type: ignore[arg-type]
        case ast.Constant(value=bool() as known):
            yield node, str(not known)
        case ast.Constant(value=int() as number):
            yield node, str(number + 1)
        case ast.Name(id=name) if name in _OTHER_NAMES:
            yield node, _OTHER_NAMES[name]
        case ast.Expr(value=ast.Call()):
            yield node, "pass"
        case ast.Call(func=func, args=[first, second, *more], keywords=words) if _matters(node):
            yield node, ast.unparse(ast.Call(func, [second, first, *more], words))
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield from _negated(source, test)
        case ast.comprehension(ifs=conditions):
            for condition in conditions:
                yield from _negated(source, condition)
        case _:
            pass


_ORDERLESS = ("min", "max", "isinstance", "lcm", "np.maximum")
"""Functions whose first two arguments can change places, or fail wherever they do."""


def _matters(call: ast.Call) -> bool:
    """Whether it can be told whether the first two arguments changed places."""
    first, second = map(ast.unparse, call.args[:2])
    return first != second and not first.startswith("*") and ast.unparse(call.func) not in _ORDERLESS


def _negated(source: str, condition: ast.expr) -> Iterator[tuple[ast.expr, str]]:
    match condition:
        case ast.Compare(ops=[op]) if isinstance(op, _EXACT_OPPOSITES):
            pass
        case _:
            yield condition, f"not ({text_of(source, condition)})"


def drawn(modules: Sequence[str], seed: int, count: int) -> list[Mutant]:
    """So many changes of these modules, all as likely; all changes where there are no more."""
    found = [mutant for module in modules for mutant in mutants(module)]
    return random.Random(seed).sample(found, min(count, len(found)))


def noticed_by(mutant: Mutant, copy: Path) -> str:
    """The first test that fails for a change; empty where none does."""
    with changed(copy / "referee" / f"{mutant.module}.py", mutant.source):
        return first_failure(copy, tests_of(mutant))


def tests_of(mutant: Mutant) -> tuple[str, ...]:
    """The tests that probably notice a change."""
    return tuple(MODULES[mutant.module].split())


def outcomes(all_mutants: Sequence[Mutant], at_once: int) -> Iterator[tuple[Mutant, str]]:
    """Each change, in the order given, with the test that noticed it; so many are tried at once. Raises
    `ValueError` where a test fails without any change.
    """
    free: SimpleQueue[Path] = SimpleQueue()

    def lent(run: Callable[[Path], str]) -> str:
        copy = free.get()
        try:
            return run(copy)
        finally:
            free.put(copy)

    with ExitStack() as stack:
        for _ in range(at_once):
            free.put(stack.enter_context(project_copy()))
        pool = stack.enter_context(ThreadPoolExecutor(at_once))
        selections = sorted({tests_of(mutant) for mutant in all_mutants})
        for failed in pool.map(lent, [partial(first_failure, tests=tests) for tests in selections]):
            if failed:
                raise ValueError(f"{failed} fails without any change")
        noticed = pool.map(lent, [partial(noticed_by, mutant) for mutant in all_mutants])
        yield from zip(all_mutants, noticed, strict=True)


def report(found: Iterable[tuple[Mutant, str]]) -> tuple[str, list[str]]:
    """A table of how many changes were noticed in each module, and the changes that were not."""
    made: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    survivors = []
    for mutant, failed in found:
        made[mutant.module] += 1
        if failed:
            noticed[mutant.module] += 1
        else:
            survivors.append(mutant.title)
    rows = [
        [module, made[module], noticed[module], made[module] - noticed[module]] for module in sorted(made)
    ]
    rows.append(["all", made.total(), noticed.total(), len(survivors)])
    headers = ["module", "changes", "noticed", "overlooked"]
    return tabulate(rows, headers, tablefmt="github"), survivors


def main(words: Sequence[str] | None = None) -> None:
    """Makes the changes, and prints what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mutations")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="the beginning of a module's name")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--list", action="store_true", help="print the changes and make none")
    given = parser.parse_args(words)
    wanted = tuple(given.modules) or ("",)
    chosen = drawn([name for name in MODULES if name.startswith(wanted)], given.seed, given.count)
    if given.list:
        print("\n".join(mutant.title for mutant in chosen))
        return
    found = []
    for mutant, failed in outcomes(chosen, given.at_once):
        found.append((mutant, failed))
        print(f"{mutant.title}: {failed or 'NOTHING FAILS'}", file=sys.stderr, flush=True)
    table, survivors = report(found)
    print(table)
    print(*survivors, sep="\n")
    if survivors:
        sys.exit(1)


if __name__ == "__main__":
    main()
