"""A referee for tournament bots. `PYTHON.md` describes its use from Python.

    import referee

    run = referee.match("blooms", ["@greedy", "./mine"], games=20, clock="1s")
    print(run.table)

The names are loaded when they are used: every bot that imports `referee.protocol` imports this module.
"""

TYPE_CHECKING = False  # type checkers treat it as true; importing `typing` takes longer than this file
if TYPE_CHECKING:
    from referee.api.bot import Bot as Bot
    from referee.api.bot import Fault as Fault
    from referee.api.bot import Reply as Reply
    from referee.api.bot import Resignation as Resignation
    from referee.api.playing import Playing as Playing
    from referee.api.playing import match as match
    from referee.api.playing import run as run
    from referee.api.playing import start as start
    from referee.api.playing import tune as tune
    from referee.api.results import PlayedGame as PlayedGame
    from referee.api.results import Run as Run
    from referee.api.results import open as open
    from referee.api.tables import Table as Table
    from referee.core.errors import RefereeError as RefereeError
    from referee.core.errors import UsageError as UsageError

__version__ = "0.1.0"

__all__ = [
    "Bot",
    "Fault",
    "PlayedGame",
    "Playing",
    "RefereeError",
    "Reply",
    "Resignation",
    "Run",
    "Table",
    "UsageError",
    "match",
    "open",
    "run",
    "start",
    "tune",
]

_MODULES = {
    "Bot": "api.bot",
    "Fault": "api.bot",
    "PlayedGame": "api.results",
    "Playing": "api.playing",
    "RefereeError": "core.errors",
    "Reply": "api.bot",
    "Resignation": "api.bot",
    "Run": "api.results",
    "Table": "api.tables",
    "UsageError": "core.errors",
    "match": "api.playing",
    "open": "api.results",
    "run": "api.playing",
    "start": "api.playing",
    "tune": "api.playing",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module 'referee' has no attribute '{name}'")
    import importlib

    found = getattr(importlib.import_module(f"referee.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
