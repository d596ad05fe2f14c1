"""Small wrong changes of the core, which tests should notice: known ones, and those that `ast` finds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from tests.command import ROOT
from tests.tools.changes import parsed, spliced, text_of


def _tests(folder: str, *names: str) -> str:
    return " ".join(f"tests/unit/{folder}/test_{name}.py" for name in names)


MATCH = _tests("gameplay", "match")
RATINGS = _tests("ratings", "ratings", "tables")
FORMATS = _tests("tournament", "formats", "knockout", "swiss")
SESSIONS = _tests("wire", "sessions", "process_wire", "messages")

MODULES = {
    "gameplay/loop": f"{MATCH} tests/unit/gameplay/test_starts.py",
    "gameplay/clock": f"tests/unit/gameplay/test_clock.py {MATCH}",
    "core/timecontrol": "tests/unit/gameplay/test_clock.py",
    "core/rng": "tests/unit/core/test_rng.py",
    "core/seeds": f"tests/unit/core/test_rng.py {MATCH}",
    "records/run_files": "tests/unit/records/test_journal.py",
    "records/journal": f"{_tests('records', 'journal', 'records')} {_tests('tournament', 'follower')}",
    "tournament/formats/balanced": f"tests/unit/tournament/test_balanced.py {FORMATS}",
    "tournament/formats/gauntlet": FORMATS,
    "tournament/formats/knockout": FORMATS,
    "tournament/formats/matching": FORMATS,
    "tournament/formats/standing": FORMATS,
    "tournament/formats/swiss": FORMATS,
    "tournament/formats/tie_breaks": FORMATS,
    "tournament/formats/league_choice": "tests/unit/tournament/test_league.py",
    "ratings/clusters": RATINGS,
    "ratings/dispersion": RATINGS,
    "ratings/likelihood": RATINGS,
    "ratings/pairs": RATINGS,
    "ratings/placing": RATINGS,
    "ratings/pool": RATINGS,
    "ratings/posterior": RATINGS,
    "ratings/prior": RATINGS,
    "ratings/sprt": "tests/unit/ratings/test_sprt.py",
    "ratings/standings": RATINGS,
    "ratings/tally": RATINGS,
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
    def key(self) -> tuple[str, str, str, str]:
        """Names the change as long as its place is written as it is now."""
        return self.module, self.function, _one_line(self.before), _one_line(self.after)

    @property
    def title(self) -> str:
        """What is wrong where, in one line."""
        module, function, before, after = self.key
        return f"{module} {function}: `{before}` → `{after}`"


def source_of(module: str) -> str:
    """The module as it is."""
    return (ROOT / "referee" / f"{module}.py").read_text()


class Known(NamedTuple):
    """A break that was once overlooked: `before` stands once in the module."""

    what: str
    module: str
    before: str
    after: str

    @property
    def mutant(self) -> Mutant:
        """The module with this break. Raises `ValueError` where the text does not stand there once."""
        source = source_of(self.module)
        if source.count(self.before) != 1:
            raise ValueError(
                f"`{self.before}` stands {source.count(self.before)} times in {self.module}, expected once"
            )
        broken = source.replace(self.before, self.after)
        return Mutant(self.module, f"({self.what})", self.before, self.after, broken)


KNOWN = [
    Known("both seats get the same seed", "core/seeds", '"bot", str(seat + 1)', '"bot"'),
    Known("seeds of 52 bits", "core/seeds", "BOT_SEED_BITS = 53", "BOT_SEED_BITS = 52"),
    Known(
        "the first of two exits names the ending",
        "gameplay/loop",
        "exits[max(exits)].ending",
        "exits[min(exits)].ending",
    ),
    Known(
        "direct encounters are those with all others",
        "tournament/formats/tie_breaks",
        "if met.opponent in level",
        "if met.opponent not in level",
    ),
    Known(
        "byes count twice in Sonneborn-Berger",
        "tournament/formats/tie_breaks",
        "scores.points[met.opponent or bot] * met.points",
        "(1 + (not met.opponent)) * scores.points[met.opponent or bot] * met.points",
    ),
    Known("the rescue file without fsync", "records/journal", "            os.fsync(file)\n", ""),
    Known(
        "bots without games are not last",
        "ratings/placing",
        "return not tally.games, not is_rated, -round",
        "return False, not is_rated, -round",
    ),
    Known(
        "the league's prior in the gradient is not squared",
        "tournament/formats/league_choice",
        "mean * (ELO / PRIOR_ELO) ** 2",
        "mean * (ELO / PRIOR_ELO)",
    ),
    Known(
        "the league's prior in the precision is not squared",
        "tournament/formats/league_choice",
        "+ (ELO / PRIOR_ELO) ** 2) - off",
        "+ (ELO / PRIOR_ELO)) - off",
    ),
    Known("no hint about stale answers", "gameplay/hints", "    if stale:\n", "    if False:\n"),
    Known(
        "stale answers are not counted for the hint",
        "wire/referee_session",
        "self.turn.stale_count += 1",
        "self.turn.stale_count += 0",
    ),
]

KNOWN_TESTS = {"gameplay/hints": "tests/unit/gameplay/test_match.py tests/processes/test_hints.py"}
"""Of the modules that only known breaks are in."""

EQUIVALENT: dict[tuple[str, str, str, str], str] = {
    (
        "tournament/formats/league_choice",
        "_precision",
        "information - np.diag(np.diag(information))",
        "information + np.diag(np.diag(information))",
    ): "the diagonal is 0: no bot plays itself",
    (
        "records/journal",
        "_linked",
        "len(prev) != len(FIRST)",
        "len(prev) == len(FIRST)",
    ): "all lines are then checked by the slower way that else says what is wrong with one",
    ("tournament/formats/balanced", "_seated", "1", "2"): "all counts that are compared are twice as large",
    ("tournament/formats/tie_breaks", "Scores.add", "0", "1"): "both orders of the bots are taken",
    (
        "tournament/formats/matching",
        "_PathSearch._enqueue",
        "self._queued.add(vertex)",
        "pass",
    ): "a vertex that is visited again leads nowhere new",
}
"""By its key, a change that nobody can notice, and why."""

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


def _one_line(text: str) -> str:
    return " ".join(text.split())
