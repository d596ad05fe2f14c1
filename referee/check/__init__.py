"""Checks whether a bot is fit for tournaments, in numbered steps; and whether a game keeps the invariants."""
