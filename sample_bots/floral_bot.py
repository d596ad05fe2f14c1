"""Plays Floral Extract simply: casts its runes in turn, and guesses whatever is not known to be wrong.

Where it may guess, any runes in a row are different, so it soon casts the guessing spell; else it casts at
random until a flower is picked. A symbol of the other seat's that was wrong for a rune is not guessed for
that rune again, and when one rune is enough for a guess, it is the one with the fewest symbols left.
"""

from referee.protocol.bot import Game, play

SYMBOLS = ("ABCDEFGH", "STUVWXYZ")
PLANTED = "HACXW"  # Quick flowers first: the guessing spell needs a picked one.


class Notes:
    """What the bot has to remember of a game."""

    def __init__(self, symbols: str) -> None:
        self.open = dict.fromkeys(range(8), symbols)  # By own rune, the symbols that it may be.
        self.plants = PLANTED
        self.runes: dict[str, int] = {}
        self.previous = 0  # The own rune cast last.
        self.charge = False
        self.k = 6  # Different runes in a row for the guessing spell.
        self.picked = self.points = 0


notes = Notes("")


def start(game: Game) -> None:
    global notes
    notes = Notes(SYMBOLS[2 - game.seat])


def hear(words: list[str], seat: str) -> None:
    """Follows a line of news."""
    match words:
        case ["runes", _, *runes]:
            notes.runes = {text[0]: int(text[1]) for text in runes}
        case ["cast", who, symbol, *_] if who == seat and symbol in notes.runes:
            notes.previous = notes.runes[symbol]
        case ["guess", who, symbol, result] if who == seat:
            # Right: it is no other rune, and cannot be guessed again. Wrong: it is not this rune.
            for rune in range(8) if result == "right" else (notes.previous,):
                notes.open[rune] = notes.open[rune].replace(symbol, "")
        case ["points", *points]:
            notes.points = int(points[int(seat) - 1])
        case ["stock", _, picked, charge, k]:
            notes.picked, notes.charge, notes.k = int(picked), charge == "1", int(k)


def choose(game: Game) -> str:
    for line in game.fresh:
        hear(line.split(), str(game.seat))
    if game.news[-1].startswith("plant "):
        kind, notes.plants = notes.plants[:1], notes.plants[1:]
        return kind or "-"
    if notes.charge and notes.open[notes.previous]:
        return game.random.choice(notes.open[notes.previous])
    if notes.picked <= notes.points:
        return str(game.random.randint(1, 7))
    if notes.k == 1:
        return str(
            min((rune for rune in range(1, 8) if notes.open[rune]), key=lambda rune: len(notes.open[rune]))
        )
    return str((notes.previous + 1) % 8)


play(choose, start, only="floral")
