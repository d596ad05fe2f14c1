"""Persons at the board: what they type, what they are shown, and how they take part in a game."""
