"""Between the match and the bots: questions go out, events that carry the time used come back."""
