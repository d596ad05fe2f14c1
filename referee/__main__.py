"""`python -m referee`."""

import sys

# Python puts the current folder first; a bot's file there must not pass for a module of ours or Python's.
sys.path.append(sys.path.pop(0))

from referee.cli import main

main()
