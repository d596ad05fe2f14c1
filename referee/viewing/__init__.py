"""Recorded games, prepared to be looked at: as steps, in words, in characters, in shapes, as data."""
