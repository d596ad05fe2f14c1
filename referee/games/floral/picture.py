"""A position as a person sees it: both gardens, as far as a seat knows them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from referee.games.api import Seat
from referee.games.floral.sides import (
    BLOOMS_AT,
    CHILLY,
    FLOWERS,
    NONE,
    POTS,
    RAINY,
    SUNNY,
    SYMBOLS,
    WEATHERS,
    Side,
)
from referee.games.floral.spells import Condition
from referee.games.picture import (
    SEATS,
    Circle,
    Letters,
    Mark,
    Paint,
    Picture,
    Piece,
    Plane,
    Point,
    Polygon,
    Region,
    Row,
    Shape,
    Span,
    Stroke,
    Symbol,
    badge,
    regular,
    row_of,
)
from referee.games.trail import Audience

POT = Symbol(
    "pot",
    (
        Polygon(((-0.68, -0.35), (0.68, -0.35), (0.56, 0.36), (-0.56, 0.36)), "own-first", "own-edge", 0.05),
        Polygon(((-0.8, -0.5), (0.8, -0.5), (0.8, -0.32), (-0.8, -0.32)), "own-second", "own-edge", 0.05),
    ),
)
"""A pot in the paint of its mark; its plant stands on the point 0.52 above its middle."""

SHELF = Symbol("shelf", (Stroke(((-4.2, 0), (4.2, 0)), "board", 0.1),))  # what three pots stand on


def _across(count: int, radius: float, turn: float = 0.0, y: float = 0.0) -> Iterator[tuple[Point, Point]]:
    """Lines through (0, y), from one end of a star to the opposite one."""
    tips = regular(2 * count, radius, turn, 0, y)
    yield from zip(tips, tips[count:], strict=False)


def _stem(height: float) -> list[Shape]:
    leaf = ((0.0, -0.15), (0.1, -0.27), (0.26, -0.32), (0.42, -0.3), (0.34, -0.2), (0.2, -0.14))
    other = tuple((-x, y - 0.12) for x, y in leaf)
    return [
        Stroke(((0, 0.1), (0, -height)), "vine", 0.07),
        Polygon(leaf, "vine", "vine"),
        Polygon(other, "vine", "vine"),
    ]


def _florets(places: Sequence[Point]) -> list[Shape]:
    return [Circle(x, y, 0.115, "violet", "page", 0.02) for x, y in places]


def _azalea() -> list[Shape]:
    """Five wide petals."""
    petals = [Circle(x, y, 0.2, "flower", "page", 0.025) for x, y in regular(5, 0.24, 0, 0, -0.95)]
    return [*_stem(0.9), *petals, Circle(0, -0.95, 0.1, "white")]


def _chrysanthemum() -> list[Shape]:
    """Many narrow petals."""
    petals = [Stroke(line, "sun", 0.1) for line in _across(6, 0.42, 0, -0.95)]
    return [*_stem(0.9), *petals, Circle(0, -0.95, 0.17, "back", "page", 0.02)]


def _hyacinth() -> list[Shape]:
    """An upright spike of florets."""
    pairs = [(side * 0.13, -0.5 - 0.17 * row) for row in range(5) for side in (-1, 1)]
    return [*_stem(1.2), *_florets([*pairs, (0, -1.36)])]


def _wisteria() -> list[Shape]:
    """Florets that hang from a bent stem."""
    bent = Stroke(((0, 0.1), (0, -1.1), (0.12, -1.28), (0.34, -1.28)), "vine", 0.07)
    rows = [
        (0.12, -1.14),
        (0.34, -1.14),
        (0.56, -1.14),
        (0.23, -0.95),
        (0.45, -0.95),
        (0.34, -0.76),
        (0.34, -0.58),
    ]
    return [bent, *_stem(0.6)[1:], *_florets(rows)]


def _xanthium() -> list[Shape]:
    """A bur with spines."""
    spines = [Stroke(line, "back", 0.05) for line in _across(6, 0.42, 1 / 24, -0.95)]
    return [*_stem(0.8), *spines, Circle(0, -0.95, 0.27, "back", "page", 0.02)]


PLANTS = {
    kind: Symbol(FLOWERS[kind], tuple(shapes()))
    for kind, shapes in zip(FLOWERS, (_azalea, _chrysanthemum, _hyacinth, _wisteria, _xanthium), strict=True)
}
"""Flowers by kind. They stand on the point (0, 0), and are 1.5 high."""
UNKNOWN = Symbol(
    "flower of unknown kind",
    (*_stem(0.7), Circle(0, -0.9, 0.28, "board", "edge"), Letters(0, -0.9, "?", "", 0.5)),
)

SKIES = {
    SUNNY: Symbol(
        "sunny",
        (
            *(Stroke(line, "sun", 0.08) for line in _across(4, 0.45)),
            Circle(0, 0, 0.24, "sun", "page", 0.04),
        ),
    ),
    CHILLY: Symbol("chilly", tuple(Stroke(line, "water", 0.08) for line in _across(3, 0.42))),
    RAINY: Symbol(
        "rainy",
        (
            *(Circle(x, y, 0.17, "edge") for x, y in ((-0.2, -0.15), (0, -0.25), (0.2, -0.15), (0, -0.1))),
            *(Stroke(((x, 0.1), (x - 0.1, 0.38)), "water", 0.07) for x in (-0.18, 0.05, 0.28)),
        ),
    ),
}
"""By weather."""


_PILL = ((-0.44, -0.32), (0.44, -0.32), (0.44, 0.32), (-0.44, 0.32))
_BOX = ((-0.27, -0.31), (0.27, -0.31), (0.27, 0.31), (-0.27, 0.31))


@cache
def rune(text: str) -> Symbol:
    """A rune with its identity, such as `A3`, or `A?` where that is not known."""
    outline = Polygon(_PILL, "own-tint", "own-edge", 0.06)
    return Symbol(f"rune {text}", (outline, Letters(0, 0, text, "", 0.5)))


SLOT = Symbol("slot", (Polygon(_BOX, "board", "board", 0.06),))
"""Of a spell: a rune that it still takes; below, one that counts."""


@cache
def filled(identity: int) -> Symbol:
    """A rune that counts for a spell."""
    shapes = Polygon(_BOX, "own-tint", "own-edge", 0.06), Letters(0, 0, str(identity), "", 0.54)
    return Symbol(f"counted {identity}", shapes)


GUESSED = Symbol("guessed", (Circle(0, 0, 0.23, "own-first", "own-edge"),))
NOT_GUESSED = Symbol("to guess", (Circle(0, 0, 0.23, "board", "edge", 0.02),))


_APART = 3  # how far pots are apart on the plane

_WIDE = 22  # and in characters, where their flowers are known; they are 2 less wide

_NARROW = 13  # the same where their flowers are not known

_ABOVE = 0.52  # how far the soil of a pot is above its middle


def picture(
    sides: tuple[Side, Side], goal: int, turn: int, weather: int, news: Sequence[str], audience: Audience
) -> Picture:
    """Each garden with its runes, points and charge, what its seat did last, and the conditions of the
    spells. The news are those of the one who looks.
    """
    done = _done(news)
    chains = []
    for seat, side in enumerate(sides):
        if audience in (None, seat):  # guard: hidden-chains
            chains.append((seat, side.chain))
    return (
        _heading(turn, weather if audience is None else None),  # guard: hidden-weather
        *_bed(sides, 0, goal, news, done, audience),
        *_bed(sides, 1, goal, news, done, audience),
        _casts(news, audience),
        *(_condition(line, tuple(chains)) for line in news[:3] if line.startswith("spell ")),
    )


@cache
def _heading(turn: int, weather: int | None) -> Row:
    if weather is None:
        return row_of(Span(f"turn {turn}", "faint"))
    sky = Span("", "", SKIES[weather])
    return row_of(
        Span(f"turn {turn},", "faint", caption=f"turn {turn}, "), sky, Span(f" {WEATHERS[weather]}", "faint")
    )


def _bed(
    sides: tuple[Side, Side],
    seat: Seat,
    goal: int,
    news: Sequence[str],
    done: Sequence[str],
    audience: Audience,
) -> tuple[Row | Plane, ...]:
    side, number = sides[seat], str(seat + 1)
    if audience in (None, seat):  # guard: hidden-gardens
        pots: list[Piece] = [
            mark for pot, flower in enumerate(side.pots) for mark in _pot(seat, pot, flower and flower[:2])
        ]
        score = _score(seat, side.points, goal, side.picked, side.charge, side.needed)
        known, apart = side.symbols, _WIDE
    else:
        told = next((line.split()[2:] for line in reversed(news) if line.startswith("stages ")), ["?"] * POTS)
        pots = [mark for pot, stage in enumerate(told) for mark in _other_pot(seat, pot, stage)]
        score = _other_score(seat, side.points, goal)
        known, apart = sides[1 - seat].guessed, _NARROW  # guard: hidden-runes
        done = _done_by_other(news, sides[0].guessed + sides[1].guessed)
    words = [span for line in done if line.split(" ", 2)[1] == number for span in _in_words(line, seat)]
    runes = _runes(seat, side, known)
    pots += [_placed_rune(span, at, side.symbols[at]) for at, span in enumerate(runes)]
    return (
        score,
        Plane(tuple(pots), _GROUND, apart / _APART, margin=2, seat=seat),
        Row((_RUNES, *(span._replace(symbol=None, caption="") for span in runes)), seat),
        Row((_LAST, *_together(words[1:])), seat),
    )


def _together(spans: Sequence[Span]) -> list[Span]:
    """Texts that follow each other as one, so that in a drawing commas stand at their words; behind a symbol
    it has a dot.
    """
    found: list[Span] = []
    for span in spans:
        if not found or span.symbol:
            found.append(span)
        elif found[-1].symbol:
            found.append(span._replace(caption=span.text.replace(",", " ·", 1)))
        else:
            text, caption = found[-1].text, found[-1].caption
            found[-1] = Span(text + span.text, caption=(text if caption is None else caption) + span.text)
    return found


_LAST = Span("  last  ", "faint", caption="last ")


@cache
def _score(seat: Seat, points: int, goal: int, picked: int, charge: bool, needed: int) -> Row:
    """The score of a seat, for those who know all of it."""
    more = "a charge to guess" if charge else f"needs {needed} different runes"
    short = "can guess" if charge else f"{needed} to cast"
    known = Span(f", {picked} picked, {more}", caption=f" · {picked} picked, {short}")
    return row_of(*_points(seat, points, goal), known, seat=seat)


@cache
def _other_score(seat: Seat, points: int, goal: int) -> Row:
    return row_of(*_points(seat, points, goal), seat=seat)


def _points(seat: Seat, points: int, goal: int) -> list[Span]:
    """Whose garden it is, and how many of the runes it has guessed, which all know."""
    places = [Span("", SEATS[seat], GUESSED if n < points else NOT_GUESSED) for n in range(goal)]
    count = f"{points} of {goal} guessed"
    return [badge(seat, f"seat {seat + 1}: "), *places, Span("", caption=" "), Span(count)]


def _runes(seat: Seat, side: Side, known: str) -> list[Span]:
    """The symbols of a seat, with the identities of those that are known."""
    runes = zip(side.symbols, side.runes, strict=False)
    return [_rune(seat, symbol, identity if symbol in known else None) for symbol, identity in runes]


_RUNES = Span("  runes", "faint", caption="")


@cache
def _placed_rune(span: Span, number: int, symbol: str) -> Mark:
    """A rune beside the pots, where it is drawn only: in two columns, so that all is read on a phone."""
    x, y = _place(2) + 2.0 + number % 2, -1.5 + 0.8 * (number // 2)
    return Mark(x, y, "", span.symbol, "", span.paint, span.title, part=symbol)


_CASTS_IN_LINE = 9  # how many turns stand in one line of the table of casts; it has two lines


def _casts(news: Sequence[str], audience: Audience) -> Plane:
    """The casts by turn and seat, of the last turns; only in drawings."""
    told = [[line for line in news if line.startswith(f"cast {number} ")] for number in (1, 2)]
    last = max(0, *(len(lines) - 1 for lines in told)) // _CASTS_IN_LINE
    marks: list[Piece] = [_PLACES]
    for line, block in enumerate(range(max(0, last - 1), max(2, last + 1))):
        marks += _turns(line, block)
        for seat, casts in enumerate(told):
            shown = casts[block * _CASTS_IN_LINE :][:_CASTS_IN_LINE]
            for column, cast in enumerate(shown):
                marks += _cast(seat, cast, column, line, audience is not None)
    return Plane(tuple(marks))


@cache
def _turns(line: int, block: int) -> tuple[Mark, ...]:
    """The numbers of the turns in a line of the table, and the seats."""
    y = _LINE_OF_CASTS * line
    first = block * _CASTS_IN_LINE + 1
    turns = [
        Mark(column + 1.2, y - 0.85, caption=str(first + column), paint="faint")
        for column in range(_CASTS_IN_LINE)
    ]
    seats = [
        Mark(0, y + seat, "", badge(seat, "").symbol, "", SEATS[seat], f"seat {seat + 1} from turn {first}")
        for seat in (0, 1)
    ]
    return (Mark(0, y - 0.85, caption="turn", paint="faint"), *turns, *seats)


_LINE_OF_CASTS = 3.1  # how far the lines of the table are apart

_PLACES = Region(
    tuple(
        tuple((round(column + x, 2), _LINE_OF_CASTS * line + seat) for x in (1.05, 1.35))
        for line in (0, 1)
        for seat in (0, 1)
        for column in range(_CASTS_IN_LINE)
    ),
    "board",
    "board",
    0.4,
    "casts to come",
)
"""The places of the table, which show below what was cast."""


@cache
def _cast(seat: Seat, cast: str, column: int, line: int, is_shared: bool) -> tuple[Mark, ...]:
    """A rune that a seat cast, or of the other's that it guessed. In a picture that has something in common
    with that of the other seat, its symbol stands by itself, below the identity that one may know alone.
    """
    _, _, symbol, *identity = cast.split(" ")
    owner = seat if symbol in SYMBOLS[seat] else 1 - seat
    spans = [_rune(owner, symbol, None)._replace(title=f"rune {symbol}")] if is_shared else []
    spans += [_rune(owner, symbol, int(one)) for one in identity]
    x, y = column + 1.2, _LINE_OF_CASTS * line + seat
    return tuple(Mark(x, y, "", span.symbol, "", span.paint, span.title) for span in spans)


@cache
def _rune(seat: Seat, symbol: str, identity: int | None) -> Span:
    known = "?" if identity is None else str(identity)
    title = f"rune {symbol}: {'not known' if identity is None else identity}"
    return Span(f" {symbol}{known}", SEATS[seat], rune(symbol + known), title)


# --- Pots ------------------------------------------------------------------------------------------------


def _place(pot: int) -> float:
    """Where a pot is; in characters, `pots` is to the left of the first."""
    return _APART * (15.5 / _WIDE + pot)


def _bar(pot: int, share: float, paint: Paint, title: str) -> Region:
    """A bar below a pot: as long as all its stages, or a share of them."""
    left, y = _place(pot) - 0.8, 1.13
    return Region((((left, y), (round(left + 1.6 * share, 3), y)),), paint, paint, 0.15, title)


_GROUND: tuple[Piece, ...] = (
    Mark(0.22, 0, "pots"),
    Mark(_place(1), 0.43, symbol=SHELF),
    *(Mark(_place(pot) - 0.9, 0.2, caption=str(pot + 1), paint="faint") for pot in range(POTS)),
    *(_bar(pot, 1, "board", "stages") for pot in range(POTS)),
)


def _pot_name(seat: Seat, pot: int) -> str:
    return f"pot {pot + 1} of seat {seat + 1}"


def _pot_mark(seat: Seat, pot: int, text: str, caption: str, title: str, apart: int = _NARROW) -> Mark:
    """A pot, which hides the foot of its plant."""
    title = f"{_pot_name(seat, pot)}: {title}"
    most = apart - 4
    blank = " " * (len(text) > most)  # so that a longer text begins where the others do
    return Mark(_place(pot), 0, f"{blank}[{text:^{most}}]", POT, caption, SEATS[seat], title)


@cache
def _pot(seat: Seat, pot: int, flower: tuple[str, int] | None) -> tuple[Piece, ...]:
    if flower is None:
        return (_pot_mark(seat, pot, NONE, "", "empty", _WIDE),)
    letter, stage = flower
    kind, last = FLOWERS[letter], BLOOMS_AT[letter]
    size = round(0.5 + 0.5 * stage / last, 3)
    return (
        Mark(_place(pot), -_ABOVE, "", PLANTS[letter], title=f"{kind} in {_pot_name(seat, pot)}", size=size),
        _pot_mark(
            seat, pot, f"{kind} {stage}/{last}", f"{stage}/{last}", f"{kind}, stage {stage} of {last}", _WIDE
        ),
        Mark(_place(pot), 0.72, caption=kind, paint="faint"),
        _bar(pot, stage / last, "vine", f"stage {stage}"),
    )


@cache
def _other_pot(seat: Seat, pot: int, stage: str) -> tuple[Mark, ...]:
    """A pot of which a seat knows only the last stage that it was told, `-` for an empty pot."""
    if stage == NONE:
        return (_pot_mark(seat, pot, NONE, "", "empty, as last reported"),)
    if stage == "?":
        return (_pot_mark(seat, pot, "?", "?", "not known"),)
    return (
        Mark(_place(pot), -_ABOVE, "", UNKNOWN, title=f"a flower in {_pot_name(seat, pot)}", size=0.75),
        _pot_mark(seat, pot, stage, stage, f"stage {stage}, as last reported"),
    )


# --- What was done last ------------------------------------------------------------------------------------

_TOLD = ("planted", "cast", "guess", "effect", "bloomed")  # the news that are shown in words, in this order


def _done(news: Sequence[str]) -> list[str]:
    """The news of the last event that are shown in words."""
    done: list[str] = []
    for line in reversed(news):
        word = line.split(" ", 1)[0]
        if word in _TOLD:
            done.append(line)
        elif done and word in ("turn", "plant", "runes"):
            break  # this is what was asked before the event
    done.reverse()
    return sorted(done, key=lambda line: _TOLD.index(line.split(" ", 1)[0]))


def _done_by_other(news: Sequence[str], guessed: str) -> list[str]:
    """The news of what was done last, for what is told of the other seat, which is what everybody is told of
    it: so nothing that this seat does not know itself, neither what one's own seat has planted since, nor the
    identity of a rune that nobody has guessed.
    """
    done = _done([line for line in news if not line.startswith("planted ")])
    return [" ".join(line.split(" ")[:3]) if _is_secret_cast(line, guessed) else line for line in done]


def _is_secret_cast(line: str, guessed: str) -> bool:
    word, _, symbol, *_ = line.split(" ")
    return word == "cast" and symbol not in guessed


@cache
def _in_words(line: str, seat: Seat) -> tuple[Span, ...]:
    """A line of news of a seat in words, after a comma."""
    match line.split(" "):
        case ["planted", _, pot, kind]:
            words = "plants nothing" if kind == NONE else f"plants {FLOWERS[kind]} in {pot}"
        case ["cast", _, symbol, *identity]:
            owner = seat if symbol in SYMBOLS[seat] else 1 - seat
            verb = "casts" if owner == seat else "guesses"
            shown = _rune(owner, symbol, int(identity[0]) if identity else None)
            return Span(", "), Span(verb), shown._replace(title="")  # so that it is also said in words
        case ["guess", _, _, result]:
            words = result
        case ["effect", _, "water", *pots]:
            words = f"waters {' '.join(pots)}"
        case ["effect", _, "fertilize", pot]:
            words = f"fertilizes {pot}"
        case ["effect", _, "weather", number]:
            words = f"makes it {WEATHERS[int(number)]}"
        case ["effect", _, "sabotage", pot]:
            words = f"sabotages {pot}"
        case ["effect", _, "guessing"]:
            words = "guessing spell"
        case ["bloomed", _, pot, kind]:
            words = f"{FLOWERS[kind]} blooms in {pot}"
        case _:
            raise ValueError(line)
    return Span(", "), Span(words)


# --- The spells --------------------------------------------------------------------------------------------


@cache
def _condition(line: str, chains: tuple[tuple[Seat, tuple[int, ...]], ...]) -> Row:
    """A condition of a spell in words, from its line of news, and in drawings how far some seats are, by
    their last runes.
    """
    _, name, text = line.split(" ", 2)
    condition = Condition.parse(text)
    numbers, length = condition.numbers, condition.length
    match condition.form:
        case "set":
            words = f" are all of {', '.join(map(str, numbers))}"
            short = f"in {','.join(map(str, numbers))}"
        case "sum":
            words = f" have a sum from {numbers[0]} to {numbers[1]}"
            short = f"sum {numbers[0]}–{numbers[1]}"
        case _:
            parts = zip(condition.relations, "bcde", strict=False)
            relations = f"a {' '.join(f'{relation} {name}' for relation, name in parts)}"
            words = f", oldest first: {relations}"
            short = relations.replace(" ", "").replace("<=", "≤").replace(">=", "≥")
    whole = f"{name}: the last {length} runes{words}"
    said = Span(whole, "faint", title=whole, caption=f"{name}: {short} ")
    return row_of(said, *(span for seat, chain in chains for span in _progress(seat, condition, chain)))


def _progress(seat: Seat, condition: Condition, chain: tuple[int, ...]) -> list[Span]:
    """A slot for each rune that a spell takes, those filled that count so far."""
    counting = chain[len(chain) - condition.begun(chain) :]
    slots = [Span("", SEATS[seat], filled(rune)) for rune in counting]
    slots += [Span("", SEATS[seat], SLOT)] * (condition.length - len(counting))
    return [Span("", caption="  "), *slots]
