"""Tuning of the numbers of a bot by games: the method, its parameters, and what may be expected of it."""
