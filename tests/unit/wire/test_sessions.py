"""Every session of the documents, through both sides of the real protocol code."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from io import BytesIO
from pathlib import Path

import pytest

from referee.core.units import TimeControl
from referee.gameplay.api import READY, GameDescription
from referee.gameplay.events import Ending
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.protocol import bot as bot_py
from referee.protocol import messages as m
from referee.protocol.session import TABLE, Breach, Phase, Session
from referee.wire.referee_session import RefereeSession
from tests.page_tables import require_listed, require_same, rows
from tests.unit.scripted import Answering, Events, Said, ScriptedWire

PROTOCOL = Path(m.__file__).parent
TRANSCRIPTS = sorted((PROTOCOL / "transcripts").glob("*.txt"))
NAMES = [path.stem for path in TRANSCRIPTS]


def read(name: str) -> list[str]:
    return (PROTOCOL / "transcripts" / f"{name}.txt").read_text().splitlines()


def spoken(name: str) -> Iterator[tuple[m.Speaker, str]]:
    for line in read(name):
        if not line.startswith("#"):
            prefix, _, rest = line.partition(": ")
            yield m.Speaker(prefix), rest


@pytest.mark.parametrize("name", NAMES)
def test_both_ends_of_the_session_allow_it(name: str) -> None:
    session = Session()
    broken = False
    for speaker, line in spoken(name):
        try:
            message = m.parse(line.encode(), speaker)
        except m.NotAMessage:
            assert speaker is m.Speaker.BOT
            continue
        except m.Malformed:
            assert name == "malformed"
            broken = True
            continue
        assert str(message) == line
        assert m.encode(message) == line.encode() + b"\n"
        session.said(speaker, message)
    assert broken == (name == "malformed")


@dataclass
class Part:
    """One game of a transcript, as the referee has to be set up for it."""

    slug: str = ""
    seat: int = 0
    seats: int = 0
    options: dict[str, str] = field(default_factory=dict)
    clock: TimeControl = TimeControl(1)  # noqa: RUF009
    seed: int = 0
    others: dict[int, list[str]] = field(default_factory=dict)
    """What each other seat does, in order."""
    chances: list[str] = field(default_factory=list)
    """What chance gives, in order."""
    opening: list[str] = field(default_factory=list)
    """The opening moves of the referee, whose news stands first."""


def parts(name: str) -> list[Part]:
    found: list[Part] = []
    told = 0
    for line in read(name):
        words = line.split()
        if line.startswith("REF: game"):
            found.append(Part(words[2], int(words[4]) - 1, int(words[5])))
            told = 0
        elif line.startswith("REF: option"):
            found[-1].options[words[2]] = " ".join(words[3:])
        elif line.startswith("REF: clock"):
            move, reserve, step, increment = (int(ms) * 1000 for ms in words[2:])
            found[-1].clock = TimeControl(move, reserve, step, increment)
        elif line.startswith("REF: seed"):
            found[-1].seed = int(words[2])
        elif line.startswith("# opening "):
            found[-1].opening.append(line.removeprefix("# opening "))
        elif line.startswith("REF: news move") and told < len(found[-1].opening):
            told += 1
        elif match := re.match(r"(?:REF: news move|# seat) (\d) (?:plays )?(.*)", line):
            if int(match[1]) != found[-1].seat + 1:
                found[-1].others.setdefault(int(match[1]) - 1, []).append(match[2])
        elif line.startswith("# chance "):
            found[-1].chances.append(line.removeprefix("# chance "))
    return found


class Reader:
    """Plays the bot's side of a transcript, and holds the referee's lines against it."""

    def __init__(self, name: str) -> None:
        self.lines = read(name)

    def __call__(self, lines: list[str]) -> Iterable[Said]:
        for line in lines:
            self._skip_remarks()
            assert f"REF: {line}" == self.lines.pop(0)
        after_us = 0
        while self.lines and not self.lines[0].startswith("REF:"):
            line = self.lines.pop(0)
            if match := re.fullmatch(r"# after (\d+) ms", line):
                after_us = int(match[1]) * 1000
            elif line == "# nothing comes":
                return
            elif line.startswith("BOT: "):
                yield after_us, line.removeprefix("BOT: ").encode() + b"\n"

    def _skip_remarks(self) -> None:
        while self.lines[0].startswith(("#", "BOT:")):
            self.lines.pop(0)


class Other(Answering):
    """Another seat: plays what the transcript says it plays."""

    def __init__(self) -> None:
        self.answers: list[str] = []

    def answer(self, number: str) -> Iterator[Said]:
        answer = self.answers.pop(0)
        what = f"resign {number}" if answer == "resigns" else f"move {number} {answer}"
        yield 0, what.encode() + b"\n"


class Seeded(ScriptedWire):
    """Sends the seed that the transcript has: the match draws its own."""

    seed = 0

    def open(self, seat: int, description: GameDescription) -> None:
        super().open(seat, description._replace(seed=self.seed))


@pytest.mark.parametrize("name", NAMES)
def test_the_referee_says_just_what_the_session_says(name: str) -> None:
    reader = Reader(name)
    wire: Seeded | None = None
    first = parts(name)[0].seat
    others = [Other() for _ in range(parts(name)[0].seats)]
    for part in parts(name):
        game = GAMES[part.slug]
        names, controls = tuple("abcd"[: part.seats]), (part.clock,) * part.seats
        options, opening = game.settle(part.options), tuple(part.opening)
        terms = Terms("list", game, options, names, controls, bytes(32), opening=opening)
        for seat, other in enumerate(others):
            other.answers = part.others.get(seat, [])
        bots = [*others]
        bots[part.seat] = reader  # type: ignore[call-overload]
        if wire is None:
            wire = Seeded(*bots)
        elif part.seat != first:
            wire.sessions.reverse()
            wire._bots = tuple(bots)
        wire.seed = part.seed
        drawn = iter(part.chances)
        dice = (lambda state, drawn=drawn: next(drawn)) if part.chances else seeded_dice(terms)
        play(terms, wire, dice, Events())
    assert wire
    wire.sessions = [wire.sessions[parts(name)[-1].seat]]
    wire._bots = (reader,)
    wire.quit()
    assert not [line for line in reader.lines if not line.startswith(("#", "BOT:"))]


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("malformed", "beside-the-answer")])
def test_the_python_library_says_just_what_the_session_says(name: str) -> None:
    said = [line for speaker, line in spoken(name) if speaker is m.Speaker.BOT]
    script = iter([line for line in said if not re.match("hello|ready", line)])

    def choose(game: bot_py.Game) -> str | None:
        for line in script:
            word, number, *rest = line.split()
            assert int(number) == game.question
            if word == "list":
                assert game.legal(*map(int, rest))
            elif word == "resign":
                return None
            else:
                return " ".join(rest)
        raise AssertionError("asked more often than the session says")

    source = BytesIO(
        b"".join(line.encode() + b"\n" for who, line in spoken(name) if who is m.Speaker.REFEREE)
    )
    sink = BytesIO()
    bot_py.play(choose, source=source, sink=sink)
    assert sink.getvalue().decode().splitlines() == said


def quotes(quoted: list[str], session: list[str]) -> bool:
    """Whether a quotation has the lines of a session in their order, and `...` for those it leaves out."""
    parts = (r"(?:.*\n)+?" if line == "..." else re.escape(f"{line}\n") for line in quoted)
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in session)) is not None


@pytest.mark.parametrize(
    ("quoted", "expected"),
    [
        ("a b c d", True),
        ("a ... d", True),
        ("... b c ...", True),
        ("a ...", True),
        ("a b c", False),
        ("b c d", False),
        ("a c d", False),
        ("a ... b c d", False),
        ("a ... c b", False),
        ("a b c d ...", False),
    ],
)
def test_a_quotation_marks_what_it_leaves_out(quoted: str, expected: bool) -> None:
    assert quotes(quoted.split(), ["a", "b", "c", "d"]) == expected


@pytest.mark.parametrize("page", ["PROTOCOL.md", *(f"games/{slug}.md" for slug in GAMES)])
def test_the_documents_quote_the_sessions_as_they_are(page: str) -> None:
    text = (PROTOCOL / page).read_text()
    quoted = re.findall(r"<!-- transcript ([\w-]+) -->\n```\n(.*?)```\n", text, re.DOTALL)
    assert quoted
    for name, session in quoted:
        assert quotes(session.splitlines(), read(name)), name


def test_the_protocol_begins_with_a_whole_session() -> None:
    text = (PROTOCOL / "PROTOCOL.md").read_text()
    first = re.search(r"<!-- transcript ([\w-]+) -->\n```\n(.*?)```\n", text, re.DOTALL)
    assert first and first[2].splitlines() == read(first[1])


def test_every_session_is_quoted_somewhere() -> None:
    pages = [PROTOCOL / "PROTOCOL.md", *(PROTOCOL / "games").glob("*.md")]
    text = "".join(page.read_text() for page in pages)
    assert all(f"<!-- transcript {name} -->" in text for name in NAMES)


@pytest.mark.parametrize(
    ("speaker", "head"),
    [(m.Speaker.REFEREE, "line | meaning | answer"), (m.Speaker.BOT, "line | when | meaning")],
)
def test_every_message_has_a_row_and_a_session(speaker: m.Speaker, head: str) -> None:
    """The rows have the messages in the order of the code, each with as many fields, and the same units."""
    forms = [first.strip("`") for first, *_ in rows("protocol/PROTOCOL.md", head)]
    assert [form.split()[0] for form in forms] == [*m.WORDS_OF[speaker]]
    spoken_in_sessions = {(who, line.split()[0]) for name in NAMES for who, line in spoken(name)}
    for form, (word, kind) in zip(forms, m.WORDS_OF[speaker].items(), strict=True):
        names = [*dict.fromkeys(re.findall("[A-Z_]+", form))]
        of_code = [field.name for field in fields(kind)]
        assert len(names) == len(of_code), form
        assert [name.lower() for name in names if "_" in name] == [name for name in of_code if "_" in name]
        assert (speaker, word) in spoken_in_sessions, f"no session has `{word}`"


def test_the_faults_of_the_document_are_those_of_the_referee() -> None:
    faults = {ending.word for ending in Ending if ending.is_fault}
    require_listed("protocol/PROTOCOL.md", "word | what happened", faults)


def test_the_state_table_of_the_document_is_the_table() -> None:
    text = (PROTOCOL / "PROTOCOL.md").read_text()
    rows = re.findall(
        r"^\| (\w*) *\| (.*?) *\| (.*?) *\| (\w+) \|$", text.split("## States")[1], re.MULTILINE
    )
    written: set[tuple[str, str, str]] = set()
    state = ""
    for name, referee, bot, to in rows:
        state = name or state
        written |= {(state, word, to) for word in re.findall(r"`(\w+)`", referee + bot)}
    real = {
        (state.value, kind.word, to.value)
        for state, row in TABLE.items()
        for kind, to in row.items()
        if not (kind is m.QuitLine and state is not Phase.IDLE)  # one sentence under the table
    }
    require_same("protocol/PROTOCOL.md, States", written, real)


def test_what_the_table_does_not_allow_is_a_breach() -> None:
    session = Session()
    with pytest.raises(Breach, match="`ready` is not allowed in the state `new`"):
        session.said(m.Speaker.BOT, m.ReadyLine())
    session.said(m.Speaker.REFEREE, m.HelloLine(1))
    with pytest.raises(Breach, match="`hello` is not allowed in the state `greeted`"):
        session.said(m.Speaker.REFEREE, m.HelloLine(1))
    session.said(m.Speaker.BOT, m.HelloLine(1))
    assert not session.said(m.Speaker.BOT, m.MoveLine(1, "x")), "between two games: dropped, no breach"
    with pytest.raises(Breach, match="`ready` is not allowed in the state `idle`"):
        session.said(m.Speaker.BOT, m.ReadyLine())
    assert session.phase is Phase.IDLE


def test_question_numbers_only_go_up_by_one() -> None:
    session = Session()
    for speaker, message in (
        (m.Speaker.REFEREE, m.HelloLine(1)),
        (m.Speaker.BOT, m.HelloLine(1)),
        (m.Speaker.REFEREE, m.GameLine("blooms", 1, 1, 2)),
        (m.Speaker.REFEREE, m.PrepareLine()),
        (m.Speaker.BOT, m.ReadyLine()),
    ):
        assert session.said(speaker, message)
    with pytest.raises(Breach):
        session.said(m.Speaker.REFEREE, m.AskLine(2, 0, 0))
    assert session.said(m.Speaker.REFEREE, m.AskLine(1, 0, 0))
    with pytest.raises(Breach):
        session.said(m.Speaker.BOT, m.MoveLine(2, "x"))
    with pytest.raises(Breach):
        session.said(m.Speaker.BOT, m.MoveLine(0, "x"))
    assert session.said(m.Speaker.BOT, m.MoveLine(1, "x"))
    assert not session.said(m.Speaker.BOT, m.MoveLine(1, "x")), "closed: dropped, no breach"


def test_an_empty_line_before_a_message_does_not_make_it_a_move() -> None:
    """However the bytes arrive: in one chunk, nothing but a move to an open question takes the short way."""
    session = RefereeSession()
    session.greet()
    assert session.receive(b"\nhello 1\n") == [READY]


def dialogue(choose: Callable[[bot_py.Game], str | None], *lines: str) -> list[str]:
    sink = BytesIO()
    source = BytesIO("".join(line + "\n" for line in lines).encode())
    bot_py.play(choose, source=source, sink=sink)
    return sink.getvalue().decode().splitlines()


GAME = ("hello 1 list", "game blooms 1 1 2", "seed 5", "prepare")


def test_the_python_library_sends_whatever_it_is_given_as_one_line() -> None:
    def choose(game: bot_py.Game) -> str:
        game.log("a\r\nb\x1b[2J" + "é" * 5000)
        game.info("\0")
        return "L:A1"

    said = dialogue(choose, *GAME, "ask 1 0 0", "quit")
    assert said[2].startswith("log a  b [2Jé") and 3990 < len(said[2].encode()) < m.LINE_CAP
    assert said[3:] == ["info  ", "move 1 L:A1"]
    for line in said:
        m.parse(line.encode(), m.Speaker.BOT)


def test_a_list_that_comes_too_late_ends_the_question_and_not_the_bot() -> None:
    seen = []

    def choose(game: bot_py.Game) -> str:
        seen.append(game.question)
        return game.legal()[0]

    lines = (
        *GAME,
        "ask 1 0 0",
        "end 2,1 time x",
        *GAME[1:],
        "ask 1 0 0",
        "legal 1 all 1 1",
        "choice L:B1",
        "quit",
    )
    assert dialogue(choose, *lines) == ["hello 1", "ready", "list 1", "ready", "list 1", "move 1 L:B1"]
    assert seen == [1, 1]
