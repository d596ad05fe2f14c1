"""What plays the games of a run: encounters and tasks, in this process or in worker processes."""
