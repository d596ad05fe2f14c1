"""What can go wrong, row by row: how it is provoked and what has to come of it, or why it is not.

The rows are a list of the faults that referees of this kind have met, under fixed numbers.
`python -m tests.tools.catalogue` prints them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tabulate import tabulate

from referee.processes.limits import DEFAULT, Limits
from referee.protocol.session import Phase
from referee.wire.process_wire import SeatWire

LONG = "1h"
"""The clock of everybody who is not to run out of time: a busy machine changes no verdict."""

Late = Callable[[SeatWire], object]
"""Whether the time of a seat is up, as far as a bot goes that does something before."""


def loading(seat_wire: SeatWire) -> bool:
    """Whether it has said hello."""
    return seat_wire.connection.session.phase is Phase.LOADING


def asked(seat_wire: SeatWire) -> bool:
    """Whether it was asked."""
    return seat_wire.connection.session.phase is Phase.ASKED


def partial(seat_wire: SeatWire) -> bytes:
    """Whether it has begun a line."""
    return seat_wire.connection.session.partial


RESIGNS = "while asked; do echo resign $n; done"
"""What the other bot does if nothing else is said: the game ends with its first turn."""

PAUSES = "asked; sleep 0.3; answer; asked; echo resign $n; listen quit"
"""It thinks a little, which leaves the bad bot some time off turn, and lets it be asked once more."""


@dataclass(frozen=True, slots=True)
class Case:
    """A provocation: a bot that misbehaves, against one that does not."""

    bot: str | tuple[str, ...]
    """For sh, behind `bad_bot.sh`; or a command."""
    verdict: str = ""
    """The fault that it loses by; none where it plays on until the other one resigns."""
    detail: str = ""
    """A part of what is said of the fault."""
    name: str = ""
    """What it is about, where a row has several."""
    foe: str = RESIGNS
    """For sh too."""
    clock: str = LONG
    start: str = LONG
    late: Late | None = None
    """When its time is up, where its clock does not decide that."""
    games: int = 1
    """So many in one encounter, each with this verdict."""
    setup: str = ""
    """For sh, in the empty folder that the bot will run in."""
    rejected: int = 0
    """So many of its answers are."""
    noise: tuple[str, ...] = ()
    """Lines of noise that the record has."""
    stderr: str = ""
    """A part of its stderr that the record has."""
    hint: str = ""
    """A part of what its author is told."""
    escaped: str = ""
    """The name of a process that left its group, as the record has it."""
    limits: Limits = DEFAULT
    pty: bool = False
    any_user: bool = False
    """It depends on who runs the referee: where that is root, it is provoked again as an ordinary user."""
    linux: bool = False
    """Only Linux has what it takes."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """A test that stands in one of these files; in brackets a parameter of it."""

    name: str


@dataclass(frozen=True, slots=True)
class Why:
    """Why a row, or what is left of it, is not provoked."""

    reason: str


Way = Case | Elsewhere | Why


@dataclass(frozen=True, slots=True)
class Row:
    """A fault, and how it is tested."""

    number: int
    name: str
    ways: tuple[Way, ...]

    @property
    def cases(self) -> Iterator[tuple[str, Case]]:
        """Its provocations, each with a name for the test."""
        for way in self.ways:
            if isinstance(way, Case):
                words = re.sub(r"[^a-z0-9]+", "-", f"{self.name} {way.name}".lower()).strip("-")
                yield f"row-{self.number}-{words}", way


def row(number: int, name: str, *ways: Way) -> Row:
    """Reads better in a long list."""
    return Row(number, name, ways)


def python(script: str) -> tuple[str, ...]:
    """A bot in Python; its output is buffered, as it is if nothing is done about it."""
    return ("{python}", "-S", "-c", script)


AT_ITS_DEADLINE = "test_processes.py::test_loses_at_the_deadline_whatever_it_does_meanwhile"
GONE_AT_ONCE = "test_processes.py::test_a_bot_that_is_gone_is_seen_at_once"
NO_START = "test_processes.py::test_a_bot_that_does_not_start"
FLOODS = "test_processes.py::test_a_flood_loses_at_its_cap_long_before_the_deadline"
TABLE_OF_VERDICTS = "test_match.py::test_verdicts_while_asked"
OFF_TURN = "test_match.py::test_verdicts_before_it_is_asked"
BAD_WORDS = "test_usage.py::test_bad_input_is_one_clear_line"
BAD_FILES = "test_config.py::test_a_bad_file_is_one_clear_line"
LACKS = "test_processes.py::test_a_lack_of_the_machine_s_is_no_fault_of_a_bot_s"

START = (
    row(
        1,
        "command not found",
        Elsewhere(BAD_WORDS),
        Elsewhere("test_processes.py::test_a_program_that_vanished_does_not_start"),
        Elsewhere("test_tournament.py::test_a_bot_that_never_starts_is_tried_three_times"),
    ),
    row(
        2,
        "file not executable",
        Elsewhere(BAD_WORDS),
        Case(
            ("./b",),
            "start",
            "Permission denied: `./b`",
            setup="echo exit >b",
            hint="chmod +x",
            any_user=True,
        ),
    ),
    row(
        3,
        "bad interpreter line",
        Case(
            ("./b",),
            "start",
            "No such file or directory: `./b`",
            "no such program",
            setup="printf '#!/no/such\\n' >b; chmod +x b",
            hint="not the interpreter that its first line (#!) names",
        ),
        Case(
            ("./b",),
            "start",
            "No such file or directory: `./b`",
            "carriage return",
            setup="printf '#!/bin/sh\\r\\nexit\\r\\n' >b; chmod +x b",
            hint="its first line ends with a carriage return",
        ),
    ),
    row(
        4,
        "wrong architecture",
        Case(
            ("./b",),
            "start",
            "Exec format error: `./b`",
            setup="printf '\\177ELFxx' >b; chmod +x b",
            hint="it is no program for this machine",
        ),
    ),
    row(5, "exits 0 at once", Case("exit 0", "start", "exited with status 0")),
    row(
        6,
        "exits non-zero at once",
        Case("echo boom >&2; exit 3", "start", "exited with status 3", stderr="boom"),
    ),
    row(
        7,
        "slow start within the allowance",
        Elsewhere("test_processes.py::test_a_slow_start_costs_no_move_time"),
    ),
    row(
        8,
        "start longer than the allowance",
        Elsewhere(f"{NO_START}[never starts]"),
        Case("listen seed; sleep 600", "start", "nothing came", "after hello", late=loading),
    ),
    row(
        9,
        "a hundred bots start together",
        Why("no more start at a time than workers times seats, and the allowance is a setting"),
    ),
    row(
        10,
        "noise on stdout before hello",
        Case("echo Engine v1; echo; asked; answer"),
        Case("listen prepare; echo book loaded; asked; answer", name="after ready", noise=("book loaded",)),
        Elsewhere("test_match.py::test_a_banner_before_hello_does_no_harm"),
    ),
    row(
        11,
        "needs a terminal",
        Case(
            'test -t 0 || { echo "not a tty" >&2; exit 1; }; play',
            "start",
            "exited with status 1",
            "on pipes",
            stderr="not a tty",
            hint="pty = true",
        ),
        Case("test -t 0 && test -t 1 && play", name="and has one", pty=True),
    ),
    row(
        12,
        "talks to the operator's terminal",
        Elsewhere("test_catalogue.py::test_a_bot_does_not_reach_the_referee_s_terminal"),
    ),
    row(
        13,
        "relative paths from another folder",
        Elsewhere("test_tournament.py::test_relative_paths_are_the_file_s"),
    ),
    row(
        14,
        "the bot's folder vanishes",
        Elsewhere("test_catalogue.py::test_a_folder_that_vanishes_costs_its_bot_the_games_that_follow"),
    ),
    row(
        15,
        "the same bot in both seats",
        Elsewhere("test_cli.py::test_bots_of_one_program_get_different_names"),
    ),
)

UNFLUSHED = """
import sys
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1", flush={flush})
    elif word == "prepare":
        print("ready", flush={flush})
    elif word == "ask":
        print("move", rest[0], "L:A1")
"""

NOT_NUMBERS = {
    "full-width digit": "\\357\\274\\221",
    "underscore": "1_0",
    "sign": "+1",
    "nan": "nan",
    "overflow": "1e400",
    "leading zero": "01",
    "4000 digits": "9" * 4000,
}

# What ends a line elsewhere: here some of it is a control character, and the rest a part of the text.
CONTROLS = {"vertical tab": "\\013", "form feed": "\\014", "file separator": "\\034"}
TEXT = {"next line": "\\302\\205", "line separator": "\\342\\200\\250"}

OUTPUT = (
    row(
        16,
        "no newline, then exit",
        Case(
            'asked; printf "move $n $move"',
            "gone",
            "exited with status 0, its last words without a newline: move 1 L:A1",
        ),
    ),
    row(
        17,
        "no newline, stays alive",
        Case(
            'asked; printf "move $n $move"; sleep 600',
            "time",
            "a line without a newline came: move 1 L:A1",
            late=partial,
            hint="end each line with a newline",
        ),
    ),
    row(
        18,
        "output is not flushed",
        Case(
            python(UNFLUSHED.format(flush=True)),
            "time",
            "nothing came",
            "the answer",
            late=asked,
            hint="its answer came when its input was closed",
        ),
        Case(
            python(UNFLUSHED.format(flush=False)),
            "start",
            "nothing came",
            "hello",
            start="20ms",
            hint="its answer came when its input was closed",
        ),
        Elsewhere("test_processes.py::test_the_environment_is_defined"),
    ),
    row(19, "CR LF", Case('asked; printf "move $n $move\\r\\n"')),
    row(
        20,
        "lone CR",
        Case(
            'asked; printf "move $n $move\\r"; sleep 600',
            "time",
            "move 1 L:A1\\x0d",
            late=lambda seat_wire: partial(seat_wire).endswith(b"\r"),
            hint="a carriage return alone",
        ),
    ),
    row(
        21,
        "NUL in a line",
        Case('asked; printf "move $n $move\\000\\n"', "protocol", "L:A1\\x00: there is a control character"),
    ),
    row(
        22,
        "invalid UTF-8",
        Case('asked; printf "move $n \\377\\376\\n"', "protocol", "move 1 \\xff\\xfe: the line is not UTF-8"),
        Case('asked; printf "\\377\\376\\n"; answer', name="noise", noise=("\\xff\\xfe",)),
    ),
    row(
        23,
        "byte order mark",
        Case('asked; printf "\\357\\273\\277move $n $move\\n"', "protocol", "byte order mark"),
        Case('printf "\\357\\273\\277hello 1\\n"; sleep 600', "start", "byte order mark", "hello"),
    ),
    row(
        24,
        "what is a number elsewhere",
        *(
            Case(f'asked; printf "move {number} $move\\n"', "protocol", "is not a plain number", name)
            for name, number in NOT_NUMBERS.items()
        ),
    ),
    row(
        25,
        "what ends a line elsewhere",
        *(
            Case(f'asked; printf "move $n $move{end}resign $n\\n"', "protocol", "control character", name)
            for name, end in CONTROLS.items()
        ),
        *(
            Case(f'asked; printf "move $n $move{end}resign $n\\n"; play', name=name, rejected=1)
            for name, end in TEXT.items()
        ),
    ),
    row(26, "empty line", Case("asked; echo; answer", noise=("",))),
    row(
        27,
        "a line of a megabyte",
        Case(
            "asked; head -c 1000000 /dev/zero | tr '\\000' x; echo",
            "flood",
            "a line of more than 4096 bytes: xxx",
        ),
    ),
    row(
        28,
        "endless line",
        Elsewhere(f"{FLOODS}[endless line]"),
        Elsewhere("test_messages.py::test_lines_hold_no_more_than_the_cap"),
    ),
    row(
        29,
        "endless lines",
        Elsewhere(f"{FLOODS}[endless lines]"),
        Elsewhere(f"{AT_ITS_DEADLINE}[slow lines]"),
    ),
    row(30, "a byte now and then, for ever", Elsewhere(f"{AT_ITS_DEADLINE}[drip]")),
    row(
        31,
        "two answers at once",
        Elsewhere(
            "test_processes.py::test_an_answer_before_the_question_is_out_of_turn_and_a_second_one_is_dropped"
        ),
        Elsewhere(f"{OFF_TURN}[the last answer again]"),
    ),
    row(
        32,
        "speaks before it is asked",
        Case('listen seed; read -r line; printf "ready\\nmove 1 L:A1\\n"; play', "turn", "never asked"),
        Elsewhere("test_processes.py::test_what_was_said_while_the_opponent_thought_is_no_answer"),
        Elsewhere(OFF_TURN),
    ),
    row(
        33,
        "floods while the opponent thinks",
        Case(
            "asked; answer; yes '# hm'",
            "flood",
            "more than 10000 lines without an answer",
            "for ever",
            foe=PAUSES,
            noise=("# hm",) * 5,
        ),
        Case(
            "asked; answer; yes '# hm' | head -n 9999; play",
            name="and stops",
            foe=PAUSES,
            noise=("# hm",) * 5,
        ),
    ),
    row(
        34,
        "writes after the game ended",
        Elsewhere(
            "test_processes.py::test_what_happens_between_two_games_is_judged_in_the_next[says goodbye]"
        ),
        Elsewhere("test_processes.py::test_a_bot_that_says_much_at_the_end_is_not_held_up"),
    ),
    row(
        35,
        "floods stderr, then moves",
        Elsewhere("test_processes.py::test_a_flood_of_stderr_harms_nobody_and_is_kept_at_both_ends"),
    ),
    row(
        36,
        "stderr is no text",
        Case("printf '\\377\\033[2J' >&2; asked; answer", stderr="\\xff"),
        Elsewhere("test_cli.py::test_stderr_of_a_bot_at_fault_is_shown_and_escaped"),
    ),
    row(
        37,
        "a helper holds stderr open",
        Case("sleep 600 <&- >/dev/null & asked; answer; listen quit"),
        Elsewhere("test_processes.py::test_helpers_end_with_the_bot"),
    ),
    row(
        38,
        "deep nesting, NaN, double names, endless digits",
        Why("bots do not speak JSON; to what the referee reads itself this is done elsewhere"),
        Elsewhere("test_games.py::test_every_game_keeps_to_what_games_have_to"),
        Elsewhere("test_records.py::test_what_is_no_object_is_refused"),
        Elsewhere("test_records.py::test_whatever_stands_in_a_record_it_is_refused_or_plays"),
        Elsewhere(BAD_FILES),
    ),
    row(
        39,
        "illegal move",
        Elsewhere("test_processes.py::test_rejections"),
        Elsewhere("test_match.py::test_the_limit_of_rejections_is_a_game_s_and_a_setting"),
    ),
    row(
        40,
        "a move with something behind it",
        Case('asked; echo "move $n $move now"; play', rejected=1),
        Case('asked; echo "resign $n now"', "protocol", "there is extra text `now`", "resigning"),
    ),
)

UP = "until [ -e up ]; do sleep 0.01; done;"
"""What a bot started is there."""

COMPUTES = "import time; next(used for used in iter(time.process_time, None) if used > 0.6)"

CLOCKS = (
    row(41, "never answers", Elsewhere(f"{AT_ITS_DEADLINE}[silent]")),
    row(
        42,
        "just inside and just outside the limit",
        Elsewhere(TABLE_OF_VERDICTS),
        Elsewhere("test_processes.py::test_time_is_rounded_up"),
    ),
    row(
        43,
        "uses the reserve to the last",
        Elsewhere("test_clock.py::test_loses_when_the_reserve_cannot_pay"),
        Elsewhere("test_match.py::test_a_reserve_is_used_up_step_by_step_and_then_loses"),
        Elsewhere("test_processes.py::test_steps_of_reserve_are_charged_and_the_record_shows_it"),
    ),
    row(
        44,
        "computes while the opponent thinks",
        Case("asked; answer; (while :; do :; done) & asked; kill $!; answer", foe=PAUSES),
    ),
    row(
        45,
        "sleeps to save its clock",
        Case("asked; sleep 600", "time", "nothing came", clock="cpu:100ms", linux=True),
    ),
    row(
        46,
        "lets another process think",
        Case(
            f"asked; (setsid sh -c \"{{python}} -I -S -c '{COMPUTES}'; echo >up\" &); {UP} answer",
            "time",
            clock="cpu:200ms",
            linux=True,
        ),
    ),
    row(
        47,
        "the referee is stopped while a bot thinks",
        Elsewhere("test_processes.py::test_the_referee_s_own_stoppage_is_not_the_bot_s_time"),
        Elsewhere("test_processes.py::test_an_answer_beyond_its_time_while_the_referee_is_stopped"),
    ),
    row(48, "the referee is starved", Elsewhere("test_catalogue.py::test_a_busy_machine_is_no_bot_s_fault")),
    row(
        49,
        "the system's clock is set",
        Elsewhere("test_stopwatch.py::test_a_clock_that_was_set_is_not_believed"),
    ),
    row(
        50,
        "the machine is suspended",
        Why("a test cannot suspend its machine; the clock that is used stands still meanwhile"),
    ),
    row(
        51,
        "the referee collects its garbage",
        Elsewhere("test_time.py::test_garbage_is_collected_between_games"),
    ),
    row(
        52,
        "slow rules",
        Elsewhere("test_catalogue.py::test_slow_rules_cost_no_bot_its_time"),
        Elsewhere("test_catalogue.py::test_slow_rules_for_one_seat_cost_the_other_nothing"),
    ),
    row(53, "slow disk", Elsewhere("test_catalogue.py::test_a_slow_disk_costs_no_bot_its_time")),
    row(
        54,
        "time is up while it is ended",
        Case("trap '' TERM INT HUP; asked; answer; while :; do sleep 1; done"),
        Elsewhere("test_processes.py::test_a_bot_that_does_not_quit_is_ended"),
    ),
    row(
        55,
        "a limit of nothing, of less, of too much",
        Elsewhere("test_clock.py::test_refuses"),
        Elsewhere(BAD_WORDS),
        Elsewhere(BAD_FILES),
    ),
)

INPUT = (
    row(56, "never reads what is short", Elsewhere(f"{AT_ITS_DEADLINE}[never reads]")),
    row(
        57,
        "never reads what is long",
        Elsewhere(f"{AT_ITS_DEADLINE}[lists and never reads]"),
        Elsewhere("test_processes.py::test_the_ending_of_a_bot_that_was_late_says_what_came"),
    ),
    row(
        58,
        "thinks before it reads all",
        Case(
            "asked; answer; asked; for i in 1 2 3 4; do echo list $n; done; sleep 600",
            "time",
            "were not read",
            foe=PAUSES,
            late=lambda seat_wire: seat_wire.connection.unsent,
        ),
    ),
    row(
        59,
        "closes its input and lives",
        Case(
            "asked; answer; exec 0<&-; exec sleep 600",
            "gone",
            "closed its input",
            foe=PAUSES,
            hint="keep both open until `quit`",
        ),
        Elsewhere(f"{NO_START}[closes input]"),
    ),
    row(
        60,
        "dies before it is written to",
        Case("asked; answer; kill -9 $$", "gone", "was ended by SIGKILL", foe=PAUSES),
        Elsewhere(f"{GONE_AT_ONCE}[exits after ready]"),
    ),
    row(
        61,
        "more pipes than have their full size",
        Elsewhere("test_catalogue.py::test_plays_with_small_pipes_and_large_descriptors"),
    ),
    row(
        62,
        "descriptors from 1024 on",
        Elsewhere("test_catalogue.py::test_plays_with_small_pipes_and_large_descriptors"),
    ),
    row(
        63,
        "few descriptors",
        Elsewhere("test_catalogue.py::test_few_descriptors_are_enough_or_the_environment_s_lack"),
    ),
)

DAEMON = "setsid sh -c 'echo >up; exec sleep 600' &"

HELPERS = "i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done;"

PROCESSES = (
    row(
        64,
        "answers, then exits",
        Elsewhere("test_processes.py::test_the_move_before_the_exit_counts"),
    ),
    row(
        65,
        "crashes",
        Case("asked; kill -SEGV $$", "gone", "was ended by SIGSEGV", "by a bad address", hint="memory"),
        Case("asked; kill -ABRT $$", "gone", "was ended by SIGABRT", "by abort"),
    ),
    row(66, "kills itself", Elsewhere(f"{GONE_AT_ONCE}[kills itself]")),
    row(
        67,
        "its output ends before it has exited",
        Case("asked; kill -SEGV $$", "gone", "was ended by SIGSEGV", games=30),
    ),
    row(68, "closes its output and lives", Elsewhere(f"{GONE_AT_ONCE}[closes output]")),
    row(69, "ignores SIGTERM", Elsewhere(f"{AT_ITS_DEADLINE}[ignores TERM]")),
    row(
        70,
        "stops itself",
        Elsewhere(f"{AT_ITS_DEADLINE}[stops itself]"),
        Case("asked; kill -STOP $PPID; answer; listen quit", name="and what watches over it", linux=True),
        Case("asked; kill -STOP $(ps -o ppid= -p $PPID); answer; listen quit", name="and what starts bots"),
    ),
    row(71, "a helper holds its output open", Elsewhere(f"{GONE_AT_ONCE}[leaves a helper]")),
    row(
        72,
        "a helper in a session of its own",
        Case(f"{DAEMON} {UP} asked; answer; listen quit", name="of a good bot", linux=True),
        Case(f"{DAEMON} {UP} asked; exit 3", "gone", "exited with status 3", escaped="sleep", linux=True),
    ),
    row(
        73,
        "a helper of a helper that is gone",
        Case(f"({DAEMON}) & wait $!; {UP} asked; answer; listen quit", name="of a good bot", linux=True),
        Case(
            f"({DAEMON}) & wait $!; {UP} asked; exit 3",
            "gone",
            "exited with status 3",
            escaped="sleep",
            linux=True,
        ),
    ),
    row(
        74,
        "kills its process group",
        Case("asked; kill -9 0", "gone", "was ended by SIGKILL", any_user=True),
        Elsewhere("test_processes.py::test_a_group_of_its_own"),
    ),
    row(
        75,
        "kills all that its user runs",
        Elsewhere("test_catalogue.py::test_a_bot_that_kills_the_referee_costs_no_game_that_was_played"),
        Case(
            "asked; kill -9 $PPID; sleep 600",
            "gone",
            "the process that watches over it",
            "its parent",
            linux=True,
        ),
    ),
    row(76, "zombies", Elsewhere("conftest.py::nothing_is_left")),
    row(
        77,
        "a process id is another's by now",
        Elsewhere("test_catalogue.py::test_a_bot_keeps_its_number_until_all_of_it_is_ended"),
    ),
    row(
        78,
        "another's exit status",
        Case(
            f"asked; (setsid sh -c 'echo >up; exit 7' &); {UP} sleep 0.1; exit 3",
            "gone",
            "exited with status 3",
            linux=True,
        ),
    ),
    row(
        79,
        "the thread that started it ends",
        Elsewhere("test_catalogue.py::test_a_bot_outlives_the_thread_that_started_it"),
    ),
    row(
        80,
        "a process that cannot be killed",
        Why("it takes a kernel that hangs; nobody waits for it longer than `UNKILLABLE_S`"),
    ),
    row(
        81,
        "two hundred helpers",
        Case(
            f"asked; {HELPERS} answer; wait",
            name="allowed",
            any_user=True,
        ),
        Case(
            f"asked; {HELPERS} wait",
            "limit",
            "processes and threads, and 100 are allowed",
            "not allowed",
            limits=Limits(processes=100),
            linux=True,
            any_user=True,
        ),
    ),
)

BOMB = "bomb() { if [ $1 = 0 ]; then sleep 60; else bomb $(($1-1)) & bomb $(($1-1)) & wait; fi; };"
"""Where nothing stops it, it ends by itself: a test must not take its machine."""

TAKES = "{python} -I -S -c 'import time; much = bytearray(1) * (150 << 20); time.sleep(600)'"

RESOURCES = (
    row(
        82,
        "fork bomb",
        Case(
            f"{BOMB} asked; bomb 9",
            "limit",
            "processes and threads, and 100 are allowed",
            limits=Limits(processes=100),
            linux=True,
            any_user=True,
        ),
    ),
    row(
        83,
        "memory bomb",
        Case(
            f"asked; exec {TAKES}",
            "gone",
            "exited with status 1",
            "of one process",
            limits=Limits(memory=100 << 20),
            linux=True,
            stderr="MemoryError",
        ),
        Case(
            f"asked; {TAKES} & {TAKES} & {TAKES} & wait",
            "limit",
            "of memory, and 400 MB are allowed",
            "of several processes",
            limits=Limits(memory=400 << 20),
            linux=True,
        ),
    ),
    row(
        84,
        "the machine runs out of memory",
        Case("asked; [ $(cat /proc/self/oom_score_adj) = 1000 ] && answer", name="bots go first", linux=True),
        Why("a test must not take all the memory of its machine"),
    ),
    row(
        85,
        "fills the disk",
        Case(
            "asked; exec head -c 5000000 /dev/zero >much",
            "limit",
            "a file of more bytes than it may have",
            "itself",
            limits=Limits(file_size=1 << 20),
        ),
        Case(
            "asked; head -c 5000000 /dev/zero >much; [ $(wc -c <much) -le 1048576 ] && answer",
            name="by a helper",
            limits=Limits(file_size=1 << 20),
        ),
    ),
    row(
        86,
        "fills a folder with files",
        Why("a bot runs in the folder that it was given, and what it writes there is its user's business"),
    ),
    row(
        87,
        "computes for ever",
        Case(
            "asked; while :; do :; done",
            "limit",
            "more processor time than it may use",
            limits=Limits(cpu=1),
        ),
    ),
    row(
        88,
        "opens many files",
        Case(
            "asked; exec {python} -I -S -c 'import os; [os.dup(0) for _ in range(100)]'",
            "gone",
            "exited with status 1",
            limits=Limits(open_files=50),
            stderr="Too many open files",
        ),
    ),
    row(89, "core dumps", Case('asked; [ "$(ulimit -c)" = 0 ] && answer')),
    row(
        90,
        "leaves files for its next game",
        Why("a bot runs in the folder that it was given, and may learn"),
    ),
    row(
        91,
        "a folder that cannot be removed",
        Why("no folder is made for a bot, so none has to be removed"),
    ),
)

OURS = (
    row(
        113,
        "the referee is killed at any instant",
        Elsewhere("test_tournament.py::test_continuing_after_being_killed_and_stopped"),
        Elsewhere("test_tournament.py::test_nothing_lives_on_when_the_referee_is_killed"),
        Elsewhere(
            "test_crash_points.py::test_no_game_is_lost_doubled_or_another_one_wherever_the_referee_is_killed"
        ),
    ),
    row(
        114,
        "the referee and what it starts bots by are killed",
        Elsewhere("test_catalogue.py::test_no_bot_lives_on_when_all_above_it_is_killed"),
    ),
    row(
        115,
        "torn last line",
        Elsewhere("test_tournament.py::test_a_torn_last_line_is_played_again"),
        Elsewhere("test_records.py::test_a_torn_line"),
    ),
    row(116, "damaged line", Elsewhere("test_tournament.py::test_a_damaged_line_is_not_built_upon")),
    row(
        117,
        "power cut",
        Why("it takes a machine to lose; a game counts when its line is on the disk"),
    ),
    row(118, "two referees in one folder", Elsewhere("test_tournament.py::test_two_referees_on_one_folder")),
    row(
        119,
        "the tournament file was changed",
        Elsewhere("test_tournament.py::test_anything_else_that_changed_is_named"),
        Elsewhere("test_tournament.py::test_bots_and_rounds_may_be_added"),
    ),
    row(
        120,
        "a bot's program was changed",
        Elsewhere("test_tournament.py::test_a_changed_program_is_recorded_and_reported"),
    ),
    row(
        121,
        "a game that ends the referee each time",
        Elsewhere("test_catalogue.py::test_a_game_that_kills_its_worker_each_time_holds_up_no_other"),
    ),
    row(
        122,
        "no room for a result",
        Elsewhere("test_tournament.py::test_a_full_disk_stops_the_run_and_it_continues"),
        Elsewhere("test_cli.py::test_a_full_disk_is_its_own_exit_code"),
    ),
    row(
        123,
        "a result cannot be synced",
        Elsewhere("test_tournament.py::test_a_full_disk_stops_the_run_and_it_continues"),
        Elsewhere("test_records.py::test_what_cannot_be_stored_is_an_error"),
    ),
    row(
        124,
        "a folder that cannot be written to",
        Elsewhere("test_tournament.py::test_folders_that_will_not_do"),
        Elsewhere(
            "test_catalogue.py::test_a_folder_that_may_not_be_written_to_is_said_before_the_first_game"
        ),
    ),
    row(
        125,
        "no descriptors or processes for a bot",
        Elsewhere(LACKS),
        Elsewhere("test_catalogue.py::test_few_descriptors_are_enough_or_the_environment_s_lack"),
        Elsewhere("test_catalogue.py::test_a_user_who_may_start_no_more_processes_lacks_something"),
    ),
    row(
        126,
        "one signal, two signals",
        Elsewhere("test_cli.py::test_the_first_signal_lets_the_game_finish"),
        Elsewhere("test_cli.py::test_the_second_signal_ends_it_at_once"),
        Elsewhere("test_cli.py::test_ctrl_c_in_a_terminal_does_not_reach_the_bots"),
    ),
    row(
        127,
        "nobody reads what it prints",
        Elsewhere("test_cli.py::test_the_reader_of_the_output_may_close_it"),
        Elsewhere("test_tournament.py::test_exit_codes_do_not_depend_on_who_reads"),
    ),
    row(
        128,
        "the terminal is closed",
        Elsewhere("test_cli.py::test_the_first_signal_lets_the_game_finish[signal.SIGHUP]"),
    ),
    row(
        129,
        "the rules fail",
        Elsewhere("test_tournament.py::test_a_game_that_the_referee_failed_at_is_void_and_played_again"),
        Elsewhere("test_tournament.py::test_a_game_that_stays_void_ends_the_run_with_1"),
    ),
    row(
        130,
        "a game without end",
        Elsewhere("test_games.py::test_every_game_keeps_to_what_games_have_to"),
    ),
    row(
        131,
        "the referee's memory grows",
        Why("it takes hours to see, and `python -m tests.tools.fault_soak` to measure"),
    ),
    row(132, "its descriptors grow", Elsewhere("conftest.py::nothing_is_left")),
    row(
        133,
        "a part of it dies unseen",
        Elsewhere("test_tournament.py::test_a_worker_that_dies_costs_no_game"),
        Elsewhere("test_tournament.py::test_workers_that_die_in_the_midst_of_a_report_do_not_hang_the_run"),
    ),
    row(
        134,
        "the clock of the record goes backwards",
        Elsewhere("test_catalogue.py::test_when_a_game_began_decides_nothing"),
        Elsewhere("test_records.py::test_lines_that_are_missing_moved_or_doubled"),
    ),
    row(
        135,
        "continued elsewhere",
        Elsewhere("test_tournament.py::test_a_run_may_move_with_its_file"),
        Elsewhere("test_rng.py::test_numbers_that_must_never_change"),
        Elsewhere("test_catalogue.py::test_the_seed_of_hashes_changes_no_game"),
    ),
    row(
        136,
        "games end in another order",
        Elsewhere("test_tournament.py::test_the_same_games_whatever_the_workers"),
        Elsewhere("test_ratings.py::test_names_and_order_change_nothing"),
    ),
)

ROWS = (*START, *OUTPUT, *CLOCKS, *INPUT, *PROCESSES, *RESOURCES, *OURS)


def told(way: Way) -> str:
    """A way of testing, in a line."""
    match way:
        case Case(verdict=verdict, detail=detail, name=name):
            outcome = f"{verdict}: {detail}" if verdict else "plays on"
            return f"{name}: {outcome}" if name else outcome
        case Elsewhere(name):
            return name
        case Why(reason):
            return f"not provoked: {reason}"


if __name__ == "__main__":
    table = [(row.number, row.name, "\n".join(map(told, row.ways))) for row in ROWS]
    print(tabulate(table, ("row", "fault", "expected, or tested by"), maxcolwidths=[None, 40, 100]))
