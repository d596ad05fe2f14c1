"""From results to ratings."""
