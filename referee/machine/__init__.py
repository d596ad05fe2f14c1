"""The machine that it all runs on: looked at, measured, judged."""
