"""`referee play` at a real terminal: all games to their end, and what two persons see of each other."""

from __future__ import annotations

import json
import re
import sys
import termios
from pathlib import Path
from signal import SIGTERM

import pexpect
import pytest

from tests.command import RANDOM, referee
from tests.processes.test_colour import DUMB, XTERM, environment
from tests.waiting import TOO_LONG_S

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")
pytestmark = pytest.mark.slow

OTHER_SCREEN, OWN_SCREEN, CLEARED = "\x1b[?1049h", "\x1b[?1049l", "\x1b[2J\x1b[H"
CTRL_C, CTRL_D = "\x03", "\x04"


class Terminal:
    """A terminal at which `referee play` runs."""

    def __init__(self, *words: str, env: dict[str, str] = XTERM) -> None:
        self.screen = pexpect.spawn(
            sys.executable,
            ["-m", "referee", "play", *words],
            env=environment(env),
            encoding="utf-8",
            timeout=TOO_LONG_S,
            dimensions=(24, 80),
        )
        self._before = termios.tcgetattr(self.screen.child_fd)
        self.written = ""

    def until(self, *what: str) -> int:
        """Waits for one of these, and returns its number."""
        number = self.screen.expect([*what])
        self.written += f"{self.screen.before}{self.screen.after}"
        return number

    def type(self, text: str) -> None:
        self.screen.send(text)

    def enter(self, line: str) -> None:
        """Types a line."""
        self.screen.send(f"{line}\r")

    def seen_since(self, mark: int) -> str:
        """What was written since, without control sequences."""
        return ESCAPE.sub("", self.written[mark:])

    def shown_by(self, line: str, seat: str) -> str:
        """What is shown for a line, until the next prompt of a seat."""
        mark = len(self.written)
        self.enter(line)
        self.until(new_prompt(seat))
        return self.seen_since(mark)

    def ended(self) -> int:
        """Waits for the end, and gives the exit code."""
        self.screen.expect(pexpect.EOF)
        self.written += str(self.screen.before)
        assert "Traceback" not in self.written
        assert termios.tcgetattr(self.screen.child_fd) == self._before, "lines and echo are as they were"
        if OTHER_SCREEN in self.written:
            assert self.written.rindex(OWN_SCREEN) > self.written.rindex(OTHER_SCREEN)
        self.screen.close()
        assert self.screen.exitstatus is not None
        return self.screen.exitstatus


GAMES = {
    "blooms": ("size=3", "target=2"),
    "vinetree": ("size=5",),
    "evengroups": ("size=3",),
    "floral": ("max_turns=2",),
    "thetree": ("deals=1",),
}


def new_prompt(seat: str) -> str:
    """The prompt of a seat."""
    return f"{seat}> "


def moves_in(text: str) -> list[str]:
    """The legal moves in what `legal` shows."""
    lines = text.split("and many more")[0].split("\n")
    cells = [cell.strip() for line in lines for cell in re.split(" {2,}", line)]
    return [cell for cell in cells if MOVE.fullmatch(cell)]


MOVE = re.compile(
    r"[LD]:\w\d( [LD]:\w\d)?|\w\d [UDLR]+ [UDLR]+|[OW]:\w\d( [OW]:\w\d)?|[A-Z-]|\d-\d@-?\d+,\d+"
)
ME = "seat 1 me"
OVER = r"(?:me|b) won|a draw"


@pytest.mark.parametrize("slug", GAMES)
def test_a_game_to_its_end_with_illegal_moves_and_a_move_taken_back(slug: str, tmp_path: Path) -> None:
    options = [word for option in GAMES[slug] for word in ("--option", option)]
    clock = () if slug == "vinetree" else ("--time", "5m+5m")
    folder = str(tmp_path / "run")
    bots = ("me", f"b={RANDOM}", "--isolation", "none")
    terminal = Terminal(slug, *bots, *options, *clock, "--seed", "s", "-o", folder)
    terminal.until(new_prompt(ME))
    assert "illegal: " in terminal.shown_by("%%", ME)
    assert "Commands, in place of a move" in terminal.shown_by("help", ME)
    turns = 0
    while True:
        moves = moves_in(terminal.shown_by("legal", ME))
        terminal.enter(moves[len(moves) // 2])
        if terminal.until(new_prompt(ME), OVER):
            break
        turns += 1
        if turns == 1:
            assert "taken back; the bots are restarted" in terminal.shown_by("undo", ME)
    assert terminal.ended() == 0
    assert turns and "recorded as 1:me:b" in terminal.written
    done = referee("verify", folder)
    assert done.code == 0 and "1 game verified" in done.out, done.err
    game = json.loads(Path(folder, "games.jsonl").read_text().split("\n")[1])
    assert game["measured"]["taken_back"] == 1 and not any(game["faults"])
    assert not any("rejected" in event for event in game["events"] if event.get("seat") == 1)


def test_two_persons_see_no_secrets_of_each_other_in_floral(tmp_path: Path) -> None:
    terminal = Terminal("floral", "anna=me", "bob=me", "--option", "max_turns=2", "-o", str(tmp_path / "run"))
    screens: dict[str, list[str]] = {"seat 1 anna": [], "seat 2 bob": []}
    lines = {"seat 1 anna": ["A", "1", "2"], "seat 2 bob": ["C", "1", "2"]}
    for turn in range(3):
        for seat in screens:
            terminal.until(f"{seat}: press Enter when nobody else is looking")
            assert terminal.written.count(OTHER_SCREEN) == 1, "nothing is kept that is scrolled off"
            mark = len(terminal.written)
            terminal.type("\r")
            terminal.until(new_prompt(seat))
            terminal.enter(lines[seat][turn])
            terminal.until(re.escape(CLEARED))
            screens[seat].append(terminal.written[mark:])
    assert terminal.ended() == 0
    own = {
        seat: re.search(r"(?:[A-Z][0-7] ){7}[A-Z][0-7]", ESCAPE.sub("", texts[0]))
        for seat, texts in screens.items()
    }
    runes = {seat: found[0] for seat, found in own.items() if found}
    assert len(runes) == 2 and runes["seat 1 anna"][0] == "A" and runes["seat 2 bob"][0] == "S"
    before_the_end = terminal.written[: terminal.written.rindex(OWN_SCREEN)]
    for seat, other in (("seat 1 anna", "seat 2 bob"), ("seat 2 bob", "seat 1 anna")):
        for text in screens[seat]:
            plain = ESCAPE.sub("", text)
            assert runes[seat] in plain and other + ">" not in plain
            for pair in re.findall(r"(?=([A-Z]\d [A-Z]\d))", runes[other]):
                assert pair not in plain, "a rune of the other seat"
        planted, not_seen = ("Azalea", "Chrysanthemum")[:: 1 if seat == "seat 1 anna" else -1]
        assert all(planted in text for text in screens[seat][1:])
        assert not any(not_seen in text for text in screens[seat]), "the other's flower"
    assert before_the_end.count(CLEARED) >= 12


def test_two_persons_see_no_hands_of_each_other_in_the_tree(tmp_path: Path) -> None:
    words = ("--option", "deals=1", "--seed", "s")
    terminal = Terminal("thetree", "anna=me", "bob=me", *words)
    seats = ("seat 1 anna", "seat 2 bob")
    shown: list[tuple[str, str]] = []
    enter = [f"{seat}: press Enter when nobody else is looking" for seat in seats]
    prompts = [new_prompt(seat) for seat in seats]
    mark = 0
    while len(shown) < 12:
        found = terminal.until(*enter, *prompts, r"won: |a draw")
        if found == 4:
            break
        if found < 2:
            terminal.type("\r")
            continue
        seat = seats[found - 2]
        moves = moves_in(terminal.shown_by("legal", seat))
        assert moves, terminal.written[mark:]
        shown.append((seat, ESCAPE.sub("", terminal.written[mark:])))
        mark = len(terminal.written)
        terminal.enter(moves[0])
    terminal.screen.close(force=True)
    assert {seat for seat, _ in shown} == {*seats}
    hands = [set(re.findall(r"seat \d: ((?:\d-\d ?)+)", text)[-1].split()) for _, text in shown]
    compared = 0
    for number in range(1, len(shown) - 1):
        (before, _), (seat, text), (after, _) = shown[number - 1 : number + 2]
        if before == after != seat:
            own_screen = text.partition(f"{seat}: press Enter")[2]
            for tile in hands[number - 1] & hands[number + 1]:
                assert not re.search(rf"(?<![\d-]){tile}(?![\d@-])", own_screen), "a tile of the other's hand"
                compared += 1
    assert compared > 10


def test_at_a_terminal_that_cannot_draw_lines_are_plain(tmp_path: Path) -> None:
    terminal = Terminal("blooms", "me", "bob=me", "--option", "size=3", env=DUMB)
    terminal.until("seat 1 me> ")
    terminal.enter("L:Z9")
    terminal.until("illegal: ")
    terminal.enter("L:A1")
    terminal.until("seat 2 bob> ")
    terminal.enter("resign")
    terminal.until("me won: bob resigned")
    assert terminal.ended() == 0 and "\x1b" not in terminal.written


@pytest.mark.parametrize(
    ("keys", "code", "message"),
    [
        (CTRL_C, 3, "referee: stopped by SIGINT"),
        pytest.param(CTRL_D, 0, "is not recorded"),
        pytest.param("", 3, "referee: stopped by SIGTERM"),
    ],
)
def test_the_terminal_is_as_before_when_a_person_leaves(keys: str, code: int, message: str) -> None:
    terminal = Terminal("floral", "anna=me", "bob=me")
    terminal.until("seat 1 anna: press Enter")
    terminal.type("\r")
    terminal.until(new_prompt("seat 1 anna"))
    if keys:
        terminal.type(keys)
    else:
        terminal.screen.kill(SIGTERM)
    assert terminal.ended() == code and message in terminal.written
