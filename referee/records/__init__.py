"""Records of games: written, read back, replayed."""
