"""Bots that are asked for moves in single positions, outside of games."""
