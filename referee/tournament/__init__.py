"""Many games: who meets whom, where they are played, and the folder that keeps them."""
