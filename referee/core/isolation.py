"""The levels of isolation of bots, by name."""

from __future__ import annotations

LEVELS = ("none", "basic", "landlock", "bwrap")  # the levels, from the weakest to the strongest

CONFINED = ("landlock", "bwrap")  # the levels that confine the files of a bot

AUTO = "auto"  # stands for the strongest level that works on this machine
