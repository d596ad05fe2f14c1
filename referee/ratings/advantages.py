"""The advantages of seats. Their intervals follow from how often games of a cluster go the same way for a
seat, as they do where they share an opening; those of bots follow from how often they do for the bots.

All games of a pool tell of a few seats, so their posterior is nearly normal, and hardly depends on what is
assumed of the bots: one spread will do.
"""

from __future__ import annotations

import numpy as np

from referee.ratings.arrays import Arrays
from referee.ratings.dispersion import dispersion
from referee.ratings.likelihood import Floats, Likelihood, maximum
from referee.ratings.posterior import SEAT
from referee.ratings.two import Z_95


def advantages(arrays: Arrays, likelihood: Likelihood, spread: float) -> dict[tuple[str, int], Floats]:
    """By section and number of seats: of each seat its strength less the mean of the rest, with the ends of
    its 95 % interval. The strengths of bots have this spread.
    """
    precision = np.full(arrays.size, 1 / SEAT**2)
    precision[: likelihood.bots] = 1 / spread**2
    first = _posterior(likelihood, precision)
    found = {}
    for key, seats in arrays.advantages.items():
        games = [batch for batch in arrays.games if batch.seats == tuple(seats)]
        factor = dispersion(games, *first, of_seats=True)
        mode, covariance = _posterior(likelihood.times(1 / factor), precision)
        contrasts = (len(seats) * np.eye(len(seats)) - 1) / (len(seats) - 1)
        values = contrasts @ mode[seats]
        variances = np.einsum("ij,jk,ik->i", contrasts, covariance[np.ix_(seats, seats)], contrasts)
        errors = Z_95 * np.sqrt(variances)
        found[key] = np.column_stack([values, values - errors, values + errors])
    return found


def _posterior(likelihood: Likelihood, precision: Floats) -> tuple[Floats, Floats]:
    """The mode and the covariance by a normal prior."""
    mode = maximum(likelihood, precision)
    information = likelihood.derivatives(mode[None]).information[0]
    return mode, np.linalg.inv(information + np.diag(precision))
