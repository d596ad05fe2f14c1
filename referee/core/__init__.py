"""What everything else stands on: errors, texts, units, random numbers, names."""
