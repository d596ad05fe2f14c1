"""Bots that attack, in Python and in C, and the bot that they attack.

Each is told on its command line which attacks to try and in which game. It plays Blooms by the protocol: at
`prepare` it waits for the file `targets` in its own folder, in which `tests.tools.attacks` tells it all that
an attacker could ever find out or guess, as lines NAME=VALUE; at its first question it attacks; a few moves
later it resigns. On stderr it reports `ATTACK tries NAME`, then `ATTACK did` or `ATTACK failed ...` with the
error, and `ATTACK read ...` with what it got hold of. They signal only the processes that `targets` names.
"""
