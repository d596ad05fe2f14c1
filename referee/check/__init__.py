"""Whether a bot is fit for tournaments: numbered steps, each a small trial; and whether a game is."""
