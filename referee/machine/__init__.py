"""The machine that tournaments run on: its properties, measurements, and what they mean."""
