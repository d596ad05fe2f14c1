"""A referee for tournament bots."""

__version__ = "0.1.0"
