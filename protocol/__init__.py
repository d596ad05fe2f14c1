"""The protocol between the referee and its bots: messages, session, and a library for bots in Python."""
