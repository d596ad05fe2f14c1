"""The keys of a tournament file, each with an example of its value, which errors show. Pure.

`TOURNAMENT.md` has them with types, defaults and meanings: `python -m tests.tools.key_tables --write`.
"""

from __future__ import annotations

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
        ("limits", LIMITS),
    )
    for key, example in keys.items()
}
"""The examples by the path of the key."""
