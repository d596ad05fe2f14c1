"""Tournaments on a cluster of machines, by way of Dask, with the extra `cluster` of the package."""
