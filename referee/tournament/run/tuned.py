"""A bot with its tuned values, as text to be copied. Pure."""

from __future__ import annotations

import re
import shlex

from referee.processes.program import filled
from referee.ratings.standings import Facts
from referee.tournament.file.config import written
from referee.tournament.formats.tuning import TUNED, bot_of, role_of
from referee.tournament.run.run_state import RunState


def tuned_text(run: RunState, facts: Facts) -> str:
    """The bot as a command and as a table of a tournament file, after a comment that says what the test
    found; empty for other runs, and while values are looked for. `facts` are those of the run.
    """
    table = facts.of_format("").get("parameters")
    if table is None or not table.data[0]["over"]:
        return ""
    values = [(row["parameter"], str(row["text"])) for row in table.data]
    (tuned,) = (name for name in run.header.bots if role_of(name) == TUNED)
    bot = run.header.bots[tuned]
    words = [filled(word, values) for word in bot["command"]]
    env = {name: filled(value, values) for name, value in bot["env"].items()}
    cmd = " ".join(map(_quoted, words))
    found = {"name": bot_of(tuned), "cmd": cmd, **({"env": env} if env else {})}
    shell = " ".join([*(f"{name}={_quoted(value)}" for name, value in env.items()), cmd])
    return f"# {_verdict(facts)}\n{shell}\n\n{written({'bot': [found]})}".rstrip()


def _quoted(word: str) -> str:
    """A word of a command as a shell reads it, with `{python}` as it is."""
    return word if re.fullmatch(r"[\w@%+=:,./{}-]+", word, re.ASCII) else shlex.quote(word)


def _verdict(facts: Facts) -> str:
    (test,) = facts.tests
    if not sum(test.counts):
        return "the values found are those of the start"
    if test.accepted == "H1":
        return "the test found these values better than those of the start"
    if test.accepted == "H0":
        return "the test did not find these values better than those of the start"
    return "the test has not decided whether these values are better than those of the start"
