"""All keys of a tournament file, each with an example of its value, which errors show, and which key is meant
by an unknown word: what other programs, such as fastchess and cutechess, call so, or what belongs to another
table. Pure.

`TOURNAMENT.md` has them with types, defaults and meanings: `python -m tests.tools.key_tables --write`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

TOURNAMENT = {
    "game": '"blooms"',
    "format": '"knockout"',
    "rounds": "10",
    "tables": '"balanced"',
    "against": '["mine"]',
    "seeding": '["mine", "old"]',
    "tiebreaks": '["buchholz-cut-1", "direct"]',
    "best_of": "3",
    "third_place": "true",
    "pairings": '[["mine", "old"]]',
    "budget": "2000",
    "test_budget": "4000",
    "ahead": "32",
    "clock": '"2s+6s/2s"',
    "openings": "{ plies = 4 }",
    "repeats": '"count"',
    "points": "{ win = 3, draw = 1 }",
    "order": '"points"',
    "sprt": '"0,10"',
    "stop": "{ interval = 20 }",
    "until": '"2026-12-01T20:00"',
    "time": '"3h"',
    "strikes": "3",
    "seed": '"spring"',
    "workers": "2",
    "pin": "true",
    "cluster": '"tcp://10.0.0.1:8786"',
    "keep": '"all"',
    "start": '"10s"',
    "margin": '"10ms"',
    "rejections": "10",
    "forgive_waiting": "true",
    "pause": "true",
    "processes": '"game"',
    "isolation": '"landlock"',
    "user": '"nobody"',
}
"""The keys of `[tournament]`."""

BOT = {
    "name": '"mine"',
    "cmd": '"./mine --deep"',
    "cwd": '"bots"',
    "build": '"make"',
    "build_network": "true",
    "needs": '["cc"]',
    "files": '["*.c"]',
    "read": '["../openings"]',
    "shared": "true",
    "env": '{ THREADS = "1" }',
    "pass_env": '["MODEL_PATH"]',
    "clock": '"1s"',
    "limits": '{ memory = "2GB" }',
    "pty": "true",
    "person": "true",
    "processes": '"game"',
    "pause": "true",
    "forgive_waiting": "true",
    "isolation": '"basic"',
    "user": '"games"',
}
"""The keys of `[[bot]]`."""

GAME = {
    "game": '"blooms"',
    "name": '"small"',
    "clock": '"1s+10s"',
    "options": "{ size = 4 }",
    "openings": "{ plies = 2 }",
}
"""The keys of `[[game]]`."""

STAGE = {
    "format": '"knockout"',
    "name": '"final"',
    "rounds": "2",
    "budget": "400",
    "groups": "4",
    "advance": "2",
    "carry": "true",
    "tiebreaks": '["direct", "wins"]',
    "best_of": "3",
    "third_place": "true",
}
"""The keys of `[[stage]]`."""

PARAMETER = {
    "name": '"width"',
    "start": "20",
    "min": "4",
    "max": "64",
    "integer": "true",
}
"""The keys of `[[parameter]]`."""

LIMITS = {
    "memory": '"1GB"',
    "processes": "64",
    "scratch": '"100MB"',
    "scratch_files": "1000",
    "file_size": '"10MB"',
    "open_files": "256",
    "cpu": '"10m"',
}
"""The keys of `[limits]`."""

EXAMPLES = {
    f"{table}.{key}": example
    for table, keys in (
        ("tournament", TOURNAMENT),
        ("bot", BOT),
        ("game", GAME),
        ("stage", STAGE),
        ("parameter", PARAMETER),
        ("limits", LIMITS),
    )
    for key, example in keys.items()
}
"""The examples by the path of the key."""


_CLOCK = ("time", "tc", "st", "timecontrol", "movetime", "timeout", "control", "deadline")

_TOURNAMENT = {
    "format": ("mode", "type", "kind", "style", "system"),
    "openings": ("book", "plies"),
    "sprt": ("elo0", "elo1", "alpha", "beta"),
    "stop": ("interval",),
    "strikes": ("faults", "penalty"),
    "rounds": ("games", "repeat", "count", "cycles", "gamesperpair", "encounters"),
    "clock": _CLOCK,
    "until": ("end", "ends", "closes"),
    "time": ("duration", "hours", "playtime"),
    "workers": ("concurrency", "threads", "jobs", "parallel", "processes_at_a_time"),
    "game": ("variant", "rules", "slug"),
    "margin": ("timemargin", "time_margin", "grace"),
    "pin": ("use_affinity", "affinity", "pinning"),
    "seed": ("srand", "random_seed", "rng"),
    "processes": ("restart", "reuse"),
    "start": ("startup", "start_time", "init", "startup_ms"),
    "isolation": ("sandbox", "confinement", "container"),
    "keep": ("log", "logs", "dialogue", "dialogues", "debug"),
    "rejections": ("retries", "illegal_moves", "attempts"),
}

_BOT = {
    "cmd": ("command", "exec", "executable", "path", "program", "run", "args", "argv", "script"),
    "cwd": ("dir", "directory", "folder", "workdir", "working_directory"),
    "name": ("id", "label", "title"),
    "clock": _CLOCK,
    "env": ("environment", "variables"),
    "build": ("compile", "make", "prepare"),
    "needs": ("requires", "depends", "dependencies"),
    "processes": ("restart", "reuse"),
    "isolation": ("sandbox", "confinement", "container"),
    "pty": ("terminal", "tty"),
}

_TABLES = {
    "[[bot]]": ("bots", "engine", "engines", "player", "players", "participants", "each"),
    "[options]": ("option", "game_options", "settings"),
    "[limits]": ("resources", "rlimits"),
    "[tournament]": ("match", "league", "event", "main"),
}


def key_called(word: str) -> str | None:
    """The key of the table `[tournament]` that has this name, or that other programs call so; None where
    there is none.
    """
    return word if word in TOURNAMENT else _renamed(_TOURNAMENT).get(word)


def in_file(options: Iterable[str]) -> dict[str, str]:
    """Explains keys that stand in no table, a phrase for each; `options` are those of all games."""
    return {
        **_placed(LIMITS, "[limits]"),
        **_placed(options, "[options]"),
        **_placed(("name", "cmd"), "[[bot]]"),
        **{word: f"`{key}` in `[tournament]`" for word, key in _renamed(_TOURNAMENT).items()},
        **_placed(TOURNAMENT, "[tournament]"),
        **_tables(),
    }


def in_tournament(options: Iterable[str]) -> dict[str, str]:
    """Explains unknown keys of the table `[tournament]`."""
    return {
        **_placed(LIMITS, "[limits]"),
        **_placed(BOT, "[[bot]]"),
        **_placed(options, "[options]"),
        **_tables(),
        **_own_tables("options", "limits"),
        "bot": "`[[bot]]`",
        **_quoted(_TOURNAMENT),
    }


def in_bot(options: Iterable[str]) -> dict[str, str]:
    """Explains unknown keys of a bot."""
    return {
        **_placed(options, "[options]"),
        **_placed(TOURNAMENT, "[tournament]"),
        **{name: f"`limits.{name}`" for name in LIMITS},
        **_own_tables("options"),
        "option": "`[options]`",
        **_quoted(_BOT),
    }


def _tables() -> dict[str, str]:
    return {word: f"`{table}`" for word, table in _renamed(_TABLES).items()}


def _own_tables(*names: str) -> dict[str, str]:
    return {name: f"a table of its own, `[{name}]`" for name in names}


def _quoted(words: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {word: f"`{key}`" for word, key in _renamed(words).items()}


def _renamed(words: Mapping[str, Iterable[str]]) -> dict[str, str]:
    return {other: key for key, others in words.items() for other in others}


def _placed(keys: Iterable[str], table: str) -> dict[str, str]:
    return dict.fromkeys(keys, f"it in `{table}`")
