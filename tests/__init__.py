"""The tests, in folders.

- `unit`: what starts no process and waits for nothing: values, texts, files, the match on a scripted wire
  (`unit/scripted.py`), the command line where it only reads and refuses. Its folders are those of `referee`.
- `project`: the project itself: the rules of ARCHITECTURE, the style of the pages, the tests' own tools.
- `rules`: the games, against their rules, against second, slow implementations, and against their golden
  games.
- `processes`: real processes: bots, wardens, matches and tournaments, signals, terminals, the commands of the
  documents, and the short forms of the tools below. `encounters.py` and `runs.py` are what several of these
  tests need.
- `pages`: the pages in a real browser, Chromium, where there is one: what they show, keys, barriers for
  people, hostile texts. `browser.py` has what these tests do with it.
- `catalogue`: all that can go wrong with bots and around them, in rows: what happens, and what has to come of
  it.
- `tools`: programs for developers, which take long or look at much: the soaks, chaos, crash points, the
  attacks, the guards, large synthetic runs and hostile ones, the golden games.
- `bots`: the bots that misbehave; in `broken`, those that make one mistake each, for `check`; in `attacks`,
  those that attack, in Python and C, and their victim.
- `scenes`: what commands say, word by word; a command writes it anew.
- `bench`: benchmarks.

`command.py` runs the command line, in the test's own process unless a process is the point. `holdings.py`
counts what is held of the machine; after each test, or each module of `unit` and `rules`, a fixture looks
whether something was left behind.
`programs.py` skips tests whose programs or levels of isolation are missing.

What takes long is marked `slow` and left out unless it is asked for (`-m slow`). Where all tests of a module
are slow, `pytestmark = pytest.mark.slow` says so, and a quick run does not import the module. What remains
touches every feature once, and should take at most 45 seconds on two idle cores. Property-based tests try the
same few examples in each run, and many new ones with `--hypothesis-profile random`.
`skips.py` compares the reasons of skipped tests with those that CI allows, and has CI run none of `unit` and
`rules` twice.
"""

import os
import sys

# Where the environment forbids Python to store what it compiled, each of the hundreds of processes that the
# tests start would compile all modules again, which takes longer than anything else that it does.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# As for the command line: other threads of NumPy, which is not imported yet, would wait for work.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
