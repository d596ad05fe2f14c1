"""The conversation with the bots of a game: the protocol over processes, and whose time it is."""
