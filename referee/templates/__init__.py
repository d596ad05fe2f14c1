"""Bots to begin with, in several languages.

Each plays every game at random, by asking the referee for the legal moves, and has a place for its author's
idea.
"""
