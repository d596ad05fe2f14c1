"""The connection to the bots of a game: the protocol over their processes, and the time of their moves."""
