"""A sample bot with a flaw for `diagnose` to find: `planted_bot.py FLAW`. The flaw is put into its source."""

import sys
from pathlib import Path

FLAWS: dict[str, tuple[str, dict[str, str]]] = {
    # It does not see blooms of the opponent that have a stone in a corner.
    "corner": (
        "greedy_bot.py",
        {
            "            found.append(": "            if not self.is_overlooked(stone, bloom): found.append(",
            "        value = 0.0\n": "        value = 0.0\n        self.seat = seat\n",
            "    def worth(": "    def is_overlooked(self, stone: Stone, bloom: list[Cell]) -> bool:\n"
            "        return stone[0] != self.seat and any(len(self.near[cell]) == 3 for cell in bloom)\n\n"
            "    def worth(",
        },
    ),
    # It sleeps from its ninth move on.
    "sleep": (
        "greedy_bot.py",
        {
            "    empty = board.empty()\n": "    empty = board.empty()\n"
            "    if sum(line.startswith(f'move {game.seat} ') for line in game.news) >= 8:\n"
            "        __import__('time').sleep(0.12)\n",
        },
    ),
    # As seat 2 it plays the end at random.
    "end": (
        "even_bot.py",
        {"    if len(board.now.empty) <= S": "    if game.seat == 1 and len(board.now.empty) <= S"},
    ),
}
"""By name, the sample bot, and what is replaced in it."""

program, replaced = FLAWS[sys.argv[1]]
source = (Path(__file__).parents[2] / "sample_bots" / program).read_text()
for old, new in replaced.items():
    assert source.count(old) == 1, old
    source = source.replace(old, new)
exec(compile(source, program, "exec"), {"__name__": "__main__"})
