"""A run: its state, its folder, and how it is begun, continued, and read."""
