"""One game: its clocks, its events, and the loop that is its only judge."""
