"""What games are played under where nothing else is said."""

MARGIN_US = 10_000
"""Beyond allowance and reserve, what a referee on an ordinary machine may itself be late by."""

MATCH_GAMES = 2  # the games of a match

MAX_SPRT_GAMES = 20_000  # maximum number of games of a match with a sequential test

REJECTIONS = 10  # A game's rejected moves of a seat; with the last of them the seat loses

START_US = 10_000_000  # the time a bot has to start: for its `hello`, and again for each `ready`
