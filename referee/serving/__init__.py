"""A run in a browser while it is played: followed, shown, and served."""
