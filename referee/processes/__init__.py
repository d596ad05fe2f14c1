"""Bots as processes: how they are started, watched, limited and ended. Knows nothing of the protocol."""
