"""Guesses which key of a tournament file is meant by an unknown word. Pure.

Either other programs, such as fastchess and cutechess, call it so, or it belongs to another table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from referee.tournament.file import keys

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
    return word if word in keys.TOURNAMENT else _renamed(_TOURNAMENT).get(word)


def in_file(options: Iterable[str]) -> dict[str, str]:
    """Explains keys that stand in no table, a phrase for each; `options` are those of all games."""
    return {
        **_placed(keys.LIMITS, "[limits]"),
        **_placed(options, "[options]"),
        **_placed(("name", "cmd"), "[[bot]]"),
        **{word: f"`{key}` in `[tournament]`" for word, key in _renamed(_TOURNAMENT).items()},
        **_placed(keys.TOURNAMENT, "[tournament]"),
        **_tables(),
    }


def in_tournament(options: Iterable[str]) -> dict[str, str]:
    """Explains unknown keys of the table `[tournament]`."""
    return {
        **_placed(keys.LIMITS, "[limits]"),
        **_placed(keys.BOT, "[[bot]]"),
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
        **_placed(keys.TOURNAMENT, "[tournament]"),
        **{name: f"`limits.{name}`" for name in keys.LIMITS},
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
