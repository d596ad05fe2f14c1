"""Pictures as SVG: valid XML whatever is in them, nothing that moves, everything drawn in the frame."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from referee.games import GAMES
from referee.games.picture import (
    DISC,
    FRESH,
    HEXAGON,
    SQUARE,
    Circle,
    Letters,
    Mark,
    Paint,
    Picture,
    Plane,
    Polygon,
    Region,
    Span,
    Symbol,
    Trace,
    label,
    row_of,
)
from referee.viewing.characters import lines
from referee.viewing.palette import THEMES, file_style
from referee.viewing.steps import steps_of
from referee.viewing.svg import SMALLEST_ROWS, Layout, draw
from tests.rules.random_play import SETTINGS, random_game

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert(1)</script>\x00\x1b[31m\ud800\ufffe\u202e\"'&]]><!--"

OWN: tuple[Paint, ...] = ("own", "own-first", "own-second", "own-edge", "own-tint")

GROUND = tuple(Mark(x, y, "·", SQUARE, title=f"{x} {y}") for x in range(3) for y in range(2))


def board(*marks: Mark | Trace) -> Plane:
    return Plane(marks, GROUND)


def stone(x: float, y: float, paint: Paint = "seat1") -> Mark:
    return Mark(x, y, "X", DISC, "X", paint, "a stone")


def parsed(layout: Layout, picture: Picture) -> ElementTree.Element:
    return ElementTree.fromstring(layout.svg(picture, file_style("light"), "A title", "What happened"))


def placed(element: ElementTree.Element, x: float = 0, y: float = 0) -> set[tuple[str, float, float]]:
    """Symbols and texts with their places in the file."""
    moved = [float(number) for number in re.findall(r"-?[\d.]+", element.get("transform", "0 0"))[:2]]
    x += moved[0] + float(element.get("x", "0"))
    y += moved[1] + float(element.get("y", "0"))
    if element.tag in (f"{SVG}use", f"{SVG}text"):
        return {(element.get("href") or element.text or "", round(x, 1), round(y, 1))}
    return set().union(*(placed(child, x, y) for child in element if child.tag != f"{SVG}defs"))


def test_a_file_has_a_title_a_description_and_all_symbols_once() -> None:
    picture: Picture = (
        board(stone(0, 0), stone(1, 0, "seat2"), stone(2, 0)),
        row_of(Span("X", "seat1", DISC)),
    )
    root = parsed(Layout.of([picture], "p-"), picture)
    assert root.get("role") == "img"
    named = {
        element.get("id"): element.text for element in root if element.tag in (f"{SVG}title", f"{SVG}desc")
    }
    assert list(named.values()) == ["A title", "What happened"]
    assert root.get("aria-labelledby") == " ".join(map(str, named))
    ids = [element.get("id", "") for element in root.iter() if element.get("id")]
    assert len(ids) == len(set(ids)) and all(name.startswith("p-") for name in ids)
    used = {element.get("href", "") for element in root.iter(f"{SVG}use")}
    assert used == {f"#{name}" for name in ids if name not in named}
    titles = [element.text for element in root.iter(f"{SVG}title")]
    assert titles.count("a stone") == 3 and titles.count("2 1") == 1


def test_text_stays_text_and_is_valid_xml_whatever_it_is() -> None:
    symbol = Symbol(HOSTILE, (Circle(0, 0, 0.4), Letters(0, 0, HOSTILE)))
    paint: Paint = 'x" onload="alert(1)'  # type: ignore[assignment]
    marks = (Mark(0, 0, "", symbol, HOSTILE, paint, HOSTILE), Trace(((0, 0), (1, 0)), paint, title=HOSTILE))
    picture: Picture = (Plane(marks), row_of(Span(HOSTILE, paint, None, HOSTILE)))
    text = Layout.of([picture]).svg(picture, "", HOSTILE, HOSTILE)
    root = ElementTree.fromstring(text)
    assert not [element for element in root.iter() if "script" in element.tag]
    assert {name for element in root.iter() for name in element.attrib} <= {
        *("viewBox", "width", "height", "role", "aria-labelledby", "id", "class", "transform", "href"),
        *("x", "y", "cx", "cy", "r", "d", "fill", "font-size", "text-anchor"),
        *("stroke-width", "stroke-linecap", "stroke-linejoin"),
    }
    assert all(character.isprintable() or character == "\n" for character in text)
    shown = [element.text for element in root.iter() if element.text and "<script>" in element.text]
    assert len(shown) == 2 + 1 + 1 + 2 + 1, (
        "title, description; in the symbol, a caption, titles of marks, a row"
    )
    assert all("\\x00\\x1b[31m\\ud800\\ufffe\\u202e" in text for text in shown)


def test_nothing_moves_from_one_picture_to_the_next() -> None:
    pictures: list[Picture] = [
        (row_of("short"), board(stone(0, 0)), row_of("a row of some length")),
        (row_of("a much longer row, which needs more place than the board"), board(stone(0, 0), stone(5, 3))),
        (
            row_of(""),
            board(stone(0, 0), Mark(-2, -2, "", DISC)),
            row_of(Span("", "seat1", DISC)),
            row_of("more"),
        ),
    ]
    layout = Layout.of(pictures)
    roots = [parsed(layout, picture) for picture in pictures]
    assert len({(root.get("viewBox"), root.get("width"), root.get("height")) for root in roots}) == 1
    everywhere = set.intersection(*map(placed, roots))
    assert len(everywhere) == len(GROUND) + 2, "the ground, and a stone with its caption"


def test_a_plane_with_a_frame_is_drawn_as_large_as_fits_in_each_position() -> None:
    def grown(count: int) -> Picture:
        return (Plane(tuple(stone(x, -x) for x in range(count)), frame=(9, 6)), row_of("below"))

    pictures = [grown(count) for count in (0, 1, 6, 12)]
    layout, drawn = draw(pictures)
    sizes = []
    for picture, indexes in zip(pictures, drawn.pictures, strict=True):
        beginning = "".join(drawn.elements[index] for index in indexes)
        assert beginning == "".join(layout.elements(picture))
        sizes += [float(size) for size in re.findall(r"scale\(([\d.]+)\)", beginning)[:1]]
        assert '<text class="text-ink" x="0"' in beginning
    assert len(sizes) == 3 and sizes[0] == 1.5 > sizes[1] > sizes[2]
    assert sizes[2] == pytest.approx(6 / (11 + 0.8), abs=0.01)
    assert layout.height < (6 + 2) * 40


def test_everything_is_in_the_frame() -> None:
    pictures: list[Picture] = [
        (board(stone(9, 9)), row_of("x" * 70)),
        (board(Mark(-3, 0, "", HEXAGON, "a wide caption", size=2), Trace(((0, 0), (0, 12)), fresh=True)),),
    ]
    layout = Layout.of(pictures)
    for picture in pictures:
        for _, x, y in placed(parsed(layout, picture)):
            assert 0 <= x <= layout.width and 0 <= y <= layout.height
    assert layout.width >= 70 * 0.6 * 16 * SMALLEST_ROWS
    assert layout.height >= 12 * 40


def test_what_recurs_is_kept_once_and_the_ground_apart() -> None:
    pictures: list[Picture] = [(board(*(stone(x, 0) for x in range(count))),) for count in range(4)]
    layout, drawn = draw(pictures)
    assert len(set(drawn.elements)) == len(drawn.elements)
    joined = ["".join(drawn.elements[index] for index in indexes) for indexes in drawn.pictures]
    assert joined == ["".join(layout.elements(picture)) for picture in pictures]
    assert [text.count("a stone") for text in joined] == [0, 1, 2, 3]
    assert len([text for text in drawn.elements if "a stone" in text]) == 3
    assert layout.ground.count("<use") == len(GROUND) and not any("square" in text for text in joined)


@pytest.mark.parametrize("other", [(), GROUND[1:]])
def test_a_ground_that_changes_is_drawn_with_each_picture(other: tuple[Mark, ...]) -> None:
    pictures: list[Picture] = [(Plane((), GROUND),), (Plane((), other),)]
    layout = Layout.of(pictures)
    assert not layout.ground
    counts = ["".join(layout.elements(picture)).count("<use") for picture in pictures]
    assert counts == [len(GROUND), len(other)]


def test_a_ground_is_not_drawn_where_a_picture_has_no_board() -> None:
    layout = Layout.of([(board(),), (row_of("nothing"),), ()])
    assert not layout.ground
    assert layout.elements(()) == []


def test_the_id_of_a_symbol_stands_for_what_is_drawn() -> None:
    other = Symbol(DISC.name, (Circle(0, 0, 0.3),))
    marks = [Mark(0, 0, "", DISC, "", "seat1"), Mark(0, 0, "", DISC, "", "seat2"), Mark(0, 0, "", other)]
    layouts = [Layout.of([(Plane((mark,)),)]) for mark in marks]
    together = Layout.of([(Plane(tuple(marks)),)])
    assert dict(together.symbols) == {id: text for one in layouts for id, text in one.symbols.items()}
    assert len(together.symbols) == 3
    many = (Mark(0, 0, "", Symbol(f"circle {n}", (Circle(0, 0, n),))) for n in range(1, 12))
    names = list(Layout.of([(Plane(tuple(many)),)]).symbols)
    assert names == sorted(names), "and not in the order of a set"


def test_text_over_a_shape_is_in_a_colour_that_can_be_read_there() -> None:
    ring = Symbol("ring", (Circle(0, 0, 0.4, None, "own"),))
    triangle = Polygon(((-1, -1), (1, -1), (0, 1)), "tile")
    two = Symbol("two", (triangle, Letters(0, 0, "a"), Letters(0, 3, "b")))
    cases: list[tuple[Mark, str]] = [
        (Mark(0, 0, "", DISC, "c", "seat1"), "over-seat1"),
        (Mark(0, 0, "", DISC, "c"), "over-ink"),
        (Mark(0, 0, "", HEXAGON, "c", "faint"), "text-faint"),
        (Mark(0, 0, "", HEXAGON, "c"), "over-board"),
        (Mark(0, 0, "", ring, "c", "seat1"), "text-seat1"),
        (Mark(0, 0, "", None, "c", "seat1"), "text-seat1"),
        (Mark(0, 0, "", two, "c", "seat1"), "over-tile"),
    ]
    for mark, name in cases:
        assert f'class="{name}"' in "".join(Layout.of([(Plane((mark,)),)]).elements((Plane((mark,)),))), mark
    (symbol,) = Layout.of([(Plane((Mark(0, 0, "", two),)),)]).symbols.values()
    assert re.findall('class="((?:over|text)[^"]*)"', symbol) == ["over-tile", "text-ink"]


def test_a_long_caption_fits_the_symbol_below_it() -> None:
    for caption, symbol, size in (
        ("c", DISC, 16),
        ("ccccc", DISC, 9.4),
        ("ccccc", FRESH, 16),
        ("ccccc", None, 16),
    ):
        picture: Picture = (Plane((Mark(0, 0, "", symbol, caption),)),)
        (text,) = parsed(Layout.of([picture]), picture).iter(f"{SVG}text")
        assert float(text.get("font-size", "")) == pytest.approx(size, abs=0.1)


def test_a_trace_is_a_line_with_bends_and_a_fresh_one_has_another_around_it() -> None:
    points = ((0.0, 0.0), (0.0, 2.0), (3.0, 2.0))
    drawn = []
    for fresh in (False, True):
        picture: Picture = (Plane((Trace(points, "vine", fresh=fresh),)),)
        drawn.append(list(parsed(Layout.of([picture]), picture).iter(f"{SVG}path")))
    assert [[line.get("class") for line in of] for of in drawn] == [
        ["line-vine"],
        ["line-fresh", "line-page", "line-vine"],
    ]
    widths = [[float(line.get("stroke-width", "0")) for line in of] for of in drawn]
    assert widths[1][0] > widths[1][1] > widths[1][2] == widths[0][0], "with a gap"
    assert drawn[0][0].get("d") == "M0 0L0 68Q0 80 12 80L120 80"


def test_a_region_is_one_area_with_an_outline_around_all_its_lines() -> None:
    region = Region(
        (((0, 0), (1, 0)), ((1, 0), (1, 1)), ((3, 3),)), "seat1-tint", "seat1-edge", 0.8, "a group"
    )
    picture: Picture = (Plane((region,)),)
    layout = Layout.of([picture])
    below, above = parsed(layout, picture).iter(f"{SVG}path")
    assert [path.get("class") for path in (below, above)] == ["line-seat1-edge", "line-seat1-tint"]
    assert below.get("d") == above.get("d") == "M0 0L40 0M40 0L40 40M120 120L120 120"
    assert float(below.get("stroke-width", "0")) > float(above.get("stroke-width", "0")) == 32
    assert layout.width >= (3 + 0.8 + 0.6) * 40
    assert lines(picture) == []


def test_a_symbol_may_have_the_other_paints_of_its_seat() -> None:
    symbol = Symbol("s", (*(Circle(0, 0, 1, fill) for fill in OWN), Letters(0, 0, "t", "own")))
    expected: dict[Paint, list[str]] = {
        "seat1": ["seat1", "seat1", "seat1-second", "seat1-edge", "seat1-tint"],
        "seat2-second": ["seat2-second", "seat2", "seat2-second", "seat2-edge", "seat2-tint"],
        "vine": ["vine", "vine", "vine", "edge", "board"],
    }
    for paint, found in expected.items():
        (drawn,) = Layout.of([(Plane((Mark(0, 0, "", symbol, "", paint),)),)]).symbols.values()
        assert re.findall('class="fill-([^"]*)"', drawn) == found


def test_a_span_says_its_caption_instead_of_its_text() -> None:
    row = row_of(Span("seat 1: 3 of 15", caption="3"), Span("twelve", "seat1", DISC, "", ""), "b")
    found = sorted(placed(parsed(Layout.of([(row, board())]), (row, board()))))
    assert [text for text, _, _ in found if "#" not in text] == ["3", "b"]
    assert "".join(ink.text for ink in lines((row,))[0]) == "seat 1: 3 of 15twelveb"


def test_blanks_of_a_row_keep_their_width() -> None:
    picture: Picture = (row_of("  a  b ", "c"),)
    texts = list(parsed(Layout.of([picture]), picture).iter(f"{SVG}text"))
    assert [text.text for text in texts] == ["a\u00a0\u00a0b", "c"]
    first, second = (float(text.get("x", "")) for text in texts)
    assert first == pytest.approx(2 * 0.61 * 16, abs=0.1) and second == pytest.approx(7 * 0.61 * 16, abs=0.1)


def test_a_symbol_in_a_row_has_the_place_of_its_characters_and_the_blanks_around_them() -> None:
    letter = 0.61 * 16
    wide = (0.75 * 0.8 + 0.2) * 40
    for text, before, width in (
        ("X", 0, wide),
        ("  X ", 2 * letter, 3 * letter + wide),
        ("X" * 9, 0, 9 * letter),
    ):
        picture: Picture = (row_of(Span(text, "seat1", DISC), "b"),)
        ((_, x, _), (_, end, _)) = sorted(placed(parsed(Layout.of([picture]), picture)))
        blanks = (len(text) - len(text.strip(" "))) * letter
        assert end - 12 == pytest.approx(width, abs=0.2)
        assert x - 12 == pytest.approx(before + (width - blanks) / 2, abs=0.2)


def test_a_long_row_beside_a_board_has_several_lines() -> None:
    words = " ".join(f"word{number}" for number in range(30))
    row = row_of("  start ", words, Span("X", "seat1", DISC, "a stone"), "end")
    pictures: list[Picture] = [(row, board()), (row_of("short"), board())]
    layout = Layout.of(pictures)
    assert layout.width <= (11.1 + 0.6) * 40
    found = sorted((y, x, text) for text, x, y in placed(parsed(layout, pictures[0])) if "#" not in text)
    texts = [text for _, _, text in found]
    assert " ".join(texts) == f"start {words} end" and 5 <= len(texts) <= 8
    narrow = dict.fromkeys(" rt", 0.36)
    ends = [x - 12 + sum(narrow.get(c, 0.61) for c in text) * 16 for _, x, text in found]
    assert 12 + max(ends) * SMALLEST_ROWS <= layout.width
    alone = Layout.of([(row,)])
    assert alone.width > 30 * 6 * 9 and len({y for _, _, y in placed(parsed(alone, (row,)))}) == 2, "one line"
    tiles = [piece for _ in range(40) for piece in (Span(" "), Span("X", "seat1", DISC))]
    hand: Picture = (row_of("hand:", *tiles), board())
    stones = [(x, y) for text, x, y in placed(parsed(Layout.of([hand]), hand)) if "stone" in text]
    assert len({y for _, y in stones}) == 4 and len(stones) == 40, "symbols too"
    assert all(12 + (x + 3) * SMALLEST_ROWS <= Layout.of([hand]).width for x, _ in stones)
    wide: Picture = (row, Plane((stone(0, 0), stone(100, 0))))
    assert len({y for text, _, y in placed(parsed(Layout.of([wide]), wide)) if "word" in text}) == 1


def test_marks_for_terminals_only_are_not_drawn() -> None:
    plane = Plane((Mark(0, 0, "[ ]"), Trace((), "vine"), label(0, 0, "")))
    assert Layout.of([(plane,)]).elements((plane,)) == []


@pytest.mark.parametrize("slug", GAMES)
def test_the_pictures_of_every_game(slug: str) -> None:
    """All that is drawn has a colour, all that is referred to is there, and numbers are short."""
    steps = steps_of(random_game(GAMES[slug], b"svg", SETTINGS[slug][0])).steps
    for view in (None, 0):
        pictures = [step.state.picture(view) for step in steps]
        layout, drawn = draw(pictures)
        text = layout.svg(pictures[-1], "", "t") + "".join(drawn.elements)
        for theme in THEMES:
            rules = set(re.findall(r"\.([a-z0-9-]+)[,{]", file_style(theme)))
            assert set(" ".join(re.findall('class="([^"]*)"', text)).split()) <= {*rules, "picture"}
        assert {name[1:] for name in re.findall('href="([^"]*)"', text)} <= set(layout.symbols)
        assert not re.search(r"\d\.\d\d\d\d", text)
        ElementTree.fromstring(layout.svg(pictures[-1], file_style("dark"), "t"))


def test_a_ring_may_surround_a_stone() -> None:
    picture: Picture = (Plane((stone(0, 0), Mark(0, 0, "( )", FRESH, title="of the last move"))),)
    uses = [use.get("href", "") for use in parsed(Layout.of([picture]), picture).iter(f"{SVG}use")]
    assert [re.sub("-[0-9a-f]+$", "", use) for use in uses] == ["#s-stone", "#s-of-the-last-move"]


def test_parts_of_moves_are_in_a_drawing_only_where_they_are_asked_for() -> None:
    ground = (Mark(0, 0, "·", SQUARE, title="A1", part="A1"), Mark(1, 0, "·", SQUARE, title="A2"))
    hand = row_of(Span("1-3", "", DISC, "tile 1-3", "", 'a"b'), Span(" left", "", part="none"))
    picture: Picture = (Plane((Mark(0, 0, "X", DISC, part="X"),), ground), hand)
    layout, parts = draw([picture], with_parts=True)
    drawn = layout.ground + "".join(layout.elements(picture))
    assert re.findall('data-part="([^"]*)"', drawn) == ["A1", "X", "a&quot;b", "none"]
    assert "".join(parts.elements[index] for index in parts.pictures[0]) in drawn
    assert re.sub("<g data-part[^>]*>(.*?(?:</use>|/>|</text>))</g>", r"\1", drawn) == Layout.of(
        [picture]
    ).ground + "".join(Layout.of([picture]).elements(picture))
