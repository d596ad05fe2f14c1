"""What all other packages use: errors, text, units, random numbers, seeds, game ids."""
