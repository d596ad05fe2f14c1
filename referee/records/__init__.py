"""What is kept of a game: written, read back, played again."""
