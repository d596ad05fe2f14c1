"""Tournaments on a cluster of machines, by way of Dask: `pip install 'game-referee[cluster]'`."""
