"""Whether a bot is fit for tournaments: numbered steps, each a small trial that says what it found."""
