"""The contract between the referee and its bots: messages, session, and what a Python bot imports."""
