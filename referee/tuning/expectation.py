"""What tuning may gain, by the number of games and of parameters. Pure.

Measured by simulated games: the mean of 50 runs, in Elo, where the start is the optimum already, and where 40
Elo can be gained. Between the numbers, the gains are interpolated along the logarithms.
"""

from __future__ import annotations

import math

from referee.core.text import counted, signed

GAMES = (500, 2000, 8000, 20000)
PARAMETERS = (2, 5, 10)

AT_OPTIMUM = ((-2.3, -3.3, -6.5), (-1.8, -2.5, -3.9), (-0.9, -1.2, -2.0), (-0.5, -0.8, -1.1))
"""The gains where nothing can be gained: by the number of games, those for each number of parameters."""

WITH_40_TO_GAIN = ((32.0, 31.8, 25.7), (38.2, 37.2, 34.5), (39.2, 38.8, 37.7), (39.5, 39.2, 38.9))
"""The same where 40 Elo can be gained."""


def expectation(parameters: int, games: int) -> str:
    """What to expect, as a sentence."""
    from numpy import interp, log  # few commands need it

    low, high = (
        interp(log(games), log(GAMES), [interp(log(parameters), log(PARAMETERS), row) for row in table])
        for table in (AT_OPTIMUM, WITH_40_TO_GAIN)
    )
    text = (
        f"with {counted(parameters, 'parameter')} and {counted(games, 'game')}, expect {_rounded(low)} to "
        f"{_rounded(high)} Elo: the first if no values are better than the start, the second if the best are "
        "40 Elo better"
    )
    if games < GAMES[0] or parameters > PARAMETERS[-1]:
        text += f"; it is worse with fewer than {GAMES[0]} games or more than {PARAMETERS[-1]} parameters"
    return text


def _rounded(elo: float) -> str:
    return signed(elo + math.copysign(1e-9, elo))  # a half away from 0
