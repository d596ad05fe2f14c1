"""Tournament files: read, checked, with errors that name the key."""
