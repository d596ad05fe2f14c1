"""Whether tests notice small wrong changes of the core: `python -m tests.tools.mutations [MODULE ...]`.

Breaks that were once overlooked, and others drawn from those that `tests/tools/mutants.py` finds, are made
one at a time in copies of the project, where the tests that are named there for the module have to notice.
With `--rest` all quick tests that start no process run where none of these fails. The same seed draws the
same changes of the same code. Prints how many were noticed in each module, and those that were not; ends with
an error where a change was overlooked that is not listed as one that makes no difference.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from tabulate import tabulate

from tests.tools.changes import changed, first_failure, project_copy
from tests.tools.mutants import EQUIVALENT, KNOWN, KNOWN_TESTS, MODULES, Mutant, mutants

REST = ("tests/unit", "tests/rules")
"""What runs with `--rest` where the tests of the module do not notice."""


def drawn(modules: Sequence[str], seed: int, count: int) -> list[Mutant]:
    """So many changes of these modules, all as likely; all changes where there are no more."""
    found = [mutant for module in modules for mutant in mutants(module)]
    return random.Random(seed).sample(found, min(count, len(found)))


def noticed_by(mutant: Mutant, rest: Sequence[str], copy: Path) -> str:
    """The first test that fails for a change; empty where none does."""
    with changed(copy / "referee" / f"{mutant.module}.py", mutant.source):
        return first_failure(copy, tests_of(mutant)) or (first_failure(copy, rest) if rest else "")


def tests_of(mutant: Mutant) -> tuple[str, ...]:
    """The tests that probably notice a change."""
    return tuple({**KNOWN_TESTS, **MODULES}[mutant.module].split())


def outcomes(
    all_mutants: Sequence[Mutant], at_once: int, rest: Sequence[str] = ()
) -> Iterator[tuple[Mutant, str]]:
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
        noticed = pool.map(lent, [partial(noticed_by, mutant, rest) for mutant in all_mutants])
        yield from zip(all_mutants, noticed, strict=True)


def report(found: Iterable[tuple[Mutant, str]]) -> tuple[str, list[str]]:
    """A table of how many changes were noticed in each module, and the changes that were not."""
    made: Counter[str] = Counter()
    noticed: Counter[str] = Counter()
    equal: Counter[str] = Counter()
    survivors = []
    for mutant, failed in found:
        made[mutant.module] += 1
        if failed:
            noticed[mutant.module] += 1
        elif mutant.key in EQUIVALENT:
            equal[mutant.module] += 1
        else:
            survivors.append(mutant.title)
    rows = [
        [module, made[module], noticed[module], equal[module], made[module] - noticed[module] - equal[module]]
        for module in sorted(made)
    ]
    rows.append(["all", made.total(), noticed.total(), equal.total(), len(survivors)])
    headers = ["module", "changes", "noticed", "equivalent", "overlooked"]
    return tabulate(rows, headers, tablefmt="github"), survivors


def main(words: Sequence[str] | None = None) -> None:
    """Makes the changes, and prints what became of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.tools.mutations")
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="the beginning of a module's name")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--at-once", type=int, default=1)
    parser.add_argument("--known", action="store_true", help="only the breaks that were once overlooked")
    parser.add_argument("--rest", action="store_true", help=f"also run {' and '.join(REST)}")
    parser.add_argument("--list", action="store_true", help="print the changes and make none")
    given = parser.parse_args(words)
    wanted = tuple(given.modules) or ("",)
    chosen = [one.mutant for one in KNOWN if one.module.startswith(wanted)]
    if not given.known:
        chosen += drawn([name for name in MODULES if name.startswith(wanted)], given.seed, given.count)
    if given.list:
        print("\n".join(mutant.title for mutant in chosen))
        return
    found = []
    for mutant, failed in outcomes(chosen, given.at_once, REST if given.rest else ()):
        found.append((mutant, failed))
        print(f"{mutant.title}: {failed or 'NOTHING FAILS'}", file=sys.stderr, flush=True)
    table, survivors = report(found)
    print(table)
    print(*survivors, sep="\n")
    if survivors:
        sys.exit(1)


if __name__ == "__main__":
    main()
