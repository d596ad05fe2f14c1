"""Pages for a browser: a game to be replayed, a tournament, and what every page has in common."""
