"""Analysis of recorded games: proofs, estimates and the game's own count, which are never mixed."""
