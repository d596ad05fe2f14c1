"""Games in play: what a worker writes of its game while somebody looks, and what a reader makes of it."""
