"""The versions of a bot: those that passed its test are kept, and the next one is tested against the last."""
