"""`Bot`: a bot that is asked for moves, in a process of its own; whatever it does is a value."""

from __future__ import annotations

import ctypes
import os
import shlex
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest

from referee import kit
from referee.api.bot import Bot, Fault, Reply, Resignation
from referee.core.errors import GameOptionError, TimeControlError, UsageError
from referee.gameplay.events import Ending
from tests.bots import broken_bot
from tests.catalogue import ROWS, ways
from tests.catalogue.row import LONG, RESIGNS, Case, Checked
from tests.command import PLAIN, ROOT, sh_words
from tests.waiting import TOO_LONG_S, eventually

PR_GET_DUMPABLE, PR_SET_DUMPABLE = 3, 4

TOLD = ("game", "news", "end ", "quit")

START = kit.new("blooms", size=8)


def sh_bot(script: str) -> Bot:
    """A bot in a line of sh that plays Blooms, with the words of `bad_bot.sh`."""
    return Bot(sh_words(script), "blooms", {"size": 8}, isolation="none")


@pytest.mark.slow
def test_positions_are_asked_one_after_the_other_until_the_game_is_over() -> None:
    """Of one bot that plays both seats, which is told of a new game each time."""
    position = kit.new("blooms", size=3, target=2)
    with Bot(PLAIN, "blooms", {"size": 3, "target": 2}, isolation="none") as bot:
        while not position.is_over:
            reply = bot.play(position, LONG)
            assert isinstance(reply, Reply) and reply.used_us > 0 and not reply.rejected
            position = position.play(reply.text)
        with pytest.raises(UsageError, match="the game is over"):
            bot.play(position)


def test_its_game_goes_on_where_its_own_move_was_played(tmp_path: Path) -> None:
    log = shlex.quote(str(tmp_path / "log"))
    script = f'while read -r line; do echo "$line" >>{log}; set -- $line; case $1 in'
    script += " hello) echo hello 1;; prepare) echo ready;; ask) echo move $2 L:A$2;; quit) exit;; esac; done"
    with Bot(["sh", "-c", script], "blooms", {"size": 8}, isolation="none") as bot:
        texts = [
            reply.text
            for position in (START, START.play("L:A1").play("D:B1"), START.play("L:D1").play("D:B1"))
            if isinstance(reply := bot.play(position, LONG), Reply)
        ]
    assert texts == ["L:A1", "L:A2", "L:A1"]
    told = [line for line in (tmp_path / "log").read_text().splitlines() if line[:4] in TOLD]
    assert told == [
        "game blooms 1 1 2",
        "news move 1 L:A1",
        "news move 2 D:B1",
        "end 1,1 resigned the game is not played on",
        "game blooms 1 1 2",
        "news move 1 L:D1",
        "news move 2 D:B1",
        "quit",
    ]


@pytest.mark.slow
@pytest.mark.parametrize("slug", ["floral", "thetree", "evengroups", "vinetree"])
def test_seats_that_act_at_once_hidden_games_and_chance(slug: str) -> None:
    position = kit.new(slug, seed=3)
    with Bot("@random", slug, isolation="none") as bot:
        for _ in range(3):
            moves = {}
            for seat in position.to_act():
                reply = bot.play(position, LONG, seat)
                assert isinstance(reply, Reply)
                moves[seat] = reply.text
            position = position.play(moves)


def test_a_bot_is_told_what_its_seat_knows_and_no_more() -> None:
    position = kit.new("floral", seed=3)

    def choose(game):  # type: ignore[no-untyped-def]
        game.info(" ".join(line for line in game.news if "runes" in line))
        return "-"

    with Bot(choose, "floral") as bot:
        for seat, other in ((0, 1), (1, 0)):
            reply = bot.play(position, LONG, seat)
            assert isinstance(reply, Reply)
            assert f"runes {seat + 1}" in reply.info and f"runes {other + 1}" not in reply.info


@pytest.mark.slow
def test_a_game_of_one_seat() -> None:
    position = kit.new("thetree", players=1, seed=1)
    with Bot("@random", "thetree", {"players": 1}, isolation="none") as bot:
        assert isinstance(bot.play(position, LONG), Reply)


@pytest.mark.slow
def test_a_seed_gives_the_same_answers_and_none_gives_others() -> None:
    def moves(seed: str | None) -> list[object]:
        with Bot("@random", "blooms", {"size": 8}, isolation="none", seed=seed) as bot:
            return [reply.text for _ in range(5) if isinstance(reply := bot.play(START, LONG), Reply)]

    assert moves("s") == moves("s") and len(set(moves("s"))) > 1
    assert moves(None) != moves(None)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    ("script", "word"),
    [
        ("asked; exit 3", "gone"),
        ("echo no >&2; exit 1", "start"),
        ("asked; echo move 9 L:A1; listen quit", "turn"),
        ("while asked; do echo move $n nonsense; done", "illegal"),
        ("asked; while echo flood; do :; done", "flood"),
    ],
)
def test_a_fault_is_a_value_and_the_bot_is_started_anew(script: str, word: str, tmp_path: Path) -> None:
    once = shlex.quote(str(tmp_path / "once"))
    with sh_bot(f"if mkdir {once} 2>/dev/null; then {script}; exit; fi; play") as bot:
        fault = bot.play(START, LONG)
        assert isinstance(fault, Fault) and fault.word == word and fault.hint, fault
        assert ("no" in fault.stderr) == (word == "start")
        assert isinstance(bot.play(START, LONG), Reply)


@pytest.mark.slow
def test_no_answer_in_time_is_a_fault_and_the_default_move_where_there_is_one() -> None:
    silent = ["sh", "-c", sh_words("asked; listen quit")[2], sh_words("")[3]]
    with Bot(silent, "blooms", {"size": 8}, isolation="none") as bot:
        fault = bot.play(START, "20ms")
        assert isinstance(fault, Fault) and fault.word == "time" and fault.used_us > 20_000
    with Bot(silent, "floral", isolation="none") as bot:
        position = kit.new("floral", seed=1)
        for _ in range(2):
            reply = bot.play(position, "20ms", 0)
            assert isinstance(reply, Reply) and reply.defaulted and reply.text == "-"


@pytest.mark.slow
def test_a_bot_may_resign_and_is_asked_again() -> None:
    with sh_bot("while asked; do echo resign $n; done") as bot:
        for _ in range(2):
            assert isinstance(bot.play(START, LONG), Resignation)


@pytest.mark.slow
def test_answers_that_are_not_legal_come_with_the_reply() -> None:
    with sh_bot("asked; echo move $n X; play") as bot:
        reply = bot.play(START, LONG)
        assert isinstance(reply, Reply) and reply.rejected == ("X",) and reply.text == "L:A1"


def test_wrong_use_is_an_error_of_one_line_and_the_bot_plays_on(tmp_path: Path) -> None:
    floral = kit.new("floral", seed=1)
    chance = kit.new("thetree", explicit_chance=True)
    with sh_bot("play") as bot:
        wrong: list[tuple[tuple[object, ...], type[Exception], str]] = [
            ((floral,), UsageError, "the position is of `floral`, expected one of `blooms`"),
            ((kit.new("blooms", size=4),), UsageError, "expected `size=8"),
            (("L:A1",), UsageError, "expected a `kit.Position`"),
            ((START, "soon"), TimeControlError, "`soon` is not a time control"),
            ((START, LONG, 1), UsageError, "`seat` is 1, expected one of the seats that act: 0"),
        ]
        for arguments, kind, text in wrong:
            with pytest.raises(kind) as error:
                bot.play(*arguments)  # type: ignore[arg-type]
            assert text in str(error.value) and "\n" not in str(error.value)
        assert isinstance(bot.play(START, LONG), Reply)
    with Bot("@random", "floral") as bot, pytest.raises(UsageError, match="the seats that act: 0, 1"):
        bot.play(floral)
    with Bot("@random", "thetree") as bot, pytest.raises(UsageError, match="chance acts"):
        bot.play(chance)


@pytest.mark.parametrize(
    ("arguments", "kind", "text"),
    [
        (("./no-such-bot", "blooms"), UsageError, "no program at `./no-such-bot`"),
        (("./README.md", "blooms"), UsageError, "`./README.md` is not executable"),
        (("@random", "bloms"), UsageError, "unknown game `bloms`, expected `blooms`"),
        (("@random", "blooms", {"side": 4}), GameOptionError, "`blooms` has no option `side`"),
        (("@random", "blooms", {"size": 1}), GameOptionError, "option `size` is `1`"),
        (({"name": "me", "person": True}, "blooms"), UsageError, "`me` is a person"),
        (({"name": "a", "cmd": "true", "needs": ["no-such"]}, "blooms"), UsageError, "needs `no-such`"),
        (({"name": "a", "command": "true"}, "blooms"), UsageError, "unknown key `bot.1.command`"),
    ],
)
def test_what_cannot_be_asked_is_an_error_at_once(
    arguments: tuple[object, ...], kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind) as error:
        Bot(*arguments)  # type: ignore[arg-type]
    assert text in str(error.value)


def test_a_level_that_there_is_not_is_named() -> None:
    with pytest.raises(UsageError, match="`isolation` is `steel`, expected one of none, basic"):
        Bot("@random", "blooms", isolation="steel")


@pytest.mark.slow
def test_a_bot_is_built_and_one_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    table = {"name": "built", "cmd": "./built", "cwd": str(tmp_path), "isolation": "none"}
    (tmp_path / "source").write_text("#!/bin/sh\nexec sh -c '. \"$0\"; play' " + sh_words("")[3])
    build = "sh -c 'cp source built && chmod +x built'"
    with Bot({**table, "build": build}, "blooms", {"size": 8}) as bot:
        assert isinstance(bot.play(START, LONG), Reply)
    with (
        Bot({**table, "build": "sh -c 'echo no compiler; exit 1'"}, "blooms", {"size": 8}) as bot,
        pytest.raises(UsageError, match=r"`built` cannot be built: .*no compiler"),
    ):
        bot.play(START)


@pytest.mark.slow
def test_two_hundred_positions_in_turn() -> None:
    position = START
    with Bot("@random", "blooms", {"size": 8}, isolation="none") as bot:
        for number in range(200):
            position = START if position.is_over else position
            reply = bot.play(position, LONG)
            assert isinstance(reply, Reply), number
            position = position.play(reply.text)


# --- The caller ------------------------------------------------------------------------------------------


def test_the_caller_s_process_stays_as_it_was() -> None:
    libc = ctypes.CDLL(None)
    hidden = not libc.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0)  # by the launcher of other tests
    libc.prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
    before = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), threading.enumerate())
    with subprocess.Popen(["sleep", "1000"]) as child:
        bot = sh_bot("play")
        assert isinstance(bot.play(START, LONG), Reply)
        bot.close()
        assert child.poll() is None, "it is none of ours"
        child.kill()
    assert libc.prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1
    libc.prctl(PR_SET_DUMPABLE, int(not hidden), 0, 0, 0)
    now = (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), threading.enumerate())
    assert now == before


@pytest.mark.slow
def test_a_bot_that_is_let_go_of_ends(tmp_path: Path) -> None:
    bot = sh_bot(f"echo $$ >{shlex.quote(str(tmp_path / 'pid'))}; play")
    assert isinstance(bot.play(START, LONG), Reply)
    pid = int((tmp_path / "pid").read_text())
    del bot
    eventually(lambda: not Path(f"/proc/{pid}").exists())


@pytest.mark.slow
def test_threads_ask_one_after_the_other() -> None:
    found: list[object] = []
    with sh_bot("play") as bot:
        threads = [threading.Thread(target=lambda: found.append(bot.play(START, LONG))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TOO_LONG_S)
    assert [type(reply) for reply in found] == [Reply] * 4


@pytest.mark.slow
def test_a_fork_of_the_caller_does_not_end_the_bot_of_its_parent() -> None:
    with sh_bot("play") as bot:
        assert isinstance(bot.play(START, LONG), Reply)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                bot.play(START, LONG)
            except UsageError:
                bot.close()
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        second = bot.play(START.play("L:A1").play("D:B1"), LONG)
        assert isinstance(second, Reply) and second.text == "L:A2", "the same process"


@pytest.mark.slow
def test_an_interrupt_in_a_move_ends_the_bot_and_the_next_move_has_a_new_one(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    once = f"if mkdir {tmp_path}/once 2>/dev/null; then echo $$ >{pid_file}.; mv {pid_file}. {pid_file}; "
    bot = sh_bot(f"asked; {once} sleep 1000; fi; answer; play")

    def interrupt() -> None:
        eventually(pid_file.exists)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        bot.play(START, LONG)
    thread.join(TOO_LONG_S)
    pid = int(pid_file.read_text())
    assert not Path(f"/proc/{pid}").exists()
    with bot:
        assert isinstance(bot.play(START, LONG), Reply)


# --- The catalogue ---------------------------------------------------------------------------------------

NO_PROGRAM = "row-2-file-not-executable"
"""Wrong use, as in a tournament."""


def of_each_verdict() -> list[Any]:
    """A case of each verdict, which is found as in a tournament: `test_catalogue.py` has all of them."""
    seen = set[str]()
    found = []
    for name, case in (named for row in ROWS for named in row.cases if named[0] != NO_PROGRAM):
        if case.verdict not in seen:
            seen.add(case.verdict)
            found.append(pytest.param(case, id=name))
    return found


def last_reply(bot: Bot, position: kit.Position, clock: str, positions: int) -> Reply | Resignation | Fault:
    """The last reply of a bot in a game in which the other seat moves at random, after some turns at most."""
    rng = kit.Quick(1)
    while isinstance(reply := bot.play(position, clock), Reply) and positions > 1:
        positions -= 1
        position = position.play(reply.text)
        position = position.play(position.sample(rng))
    return reply


@pytest.mark.slow
@pytest.mark.parametrize("case", of_each_verdict())
def test_each_fault_of_the_catalogue_is_a_value(case: Case, tmp_path: Path) -> None:
    """A bot that is to be late is, some way or other: it may not have come as far as the case says."""
    subprocess.run(["sh", "-c", case.setup], cwd=tmp_path, check=True)
    late = "500ms" if case.late else LONG
    table = {
        "name": "bad",
        "cmd": list(case.bot) if isinstance(case.bot, tuple) else list(sh_words(case.bot)),
        "cwd": str(tmp_path),
        "limits": case.limits.changed(),
        "pty": case.pty,
        "isolation": "none",
    }
    start = late if case.verdict == "start" and case.start == LONG else case.start
    clock = late if case.verdict == "time" and case.clock == LONG else case.clock
    with Bot(table, "blooms", {"size": 8}, start=start) as bot:
        for _ in range(case.games):
            reply = last_reply(bot, START, clock, 1 if case.foe == RESIGNS else 2)
            if isinstance(reply, Fault):
                break
    if not case.verdict:
        assert not isinstance(reply, Fault), reply
        return
    assert isinstance(reply, Fault), reply
    assert reply.word == case.verdict, reply
    if case.late is None:
        assert case.detail in reply.detail and case.stderr in reply.stderr


@pytest.mark.slow
@pytest.mark.parametrize("mistake", [way.name for way in ways(Checked) if hasattr(broken_bot, way.name)][::4])
def test_a_mistake_of_a_broken_bot_is_a_value(mistake: str) -> None:
    command = ["{python}", "-I", "-S", str(ROOT / "tests" / "bots" / "broken_bot.py"), mistake]
    with Bot(command, "blooms", {"size": 4}, isolation="none", start="2s") as bot:
        for seat in (0, 1):
            position = kit.new("blooms", size=4)
            reply = last_reply(bot, position.play("L:D4") if seat else position, "500ms", 4)
            assert isinstance(reply, Reply | Resignation | Fault)
            assert not isinstance(reply, Fault) or reply.word in {ending.word for ending in Ending}
