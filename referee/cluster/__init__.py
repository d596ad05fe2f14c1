"""Tournaments on several machines: what of them is sent there, and where it is kept."""
