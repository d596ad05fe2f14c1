"""Tuning."""
