"""What bots do wrong, most of them by mistake."""

from __future__ import annotations

from referee.processes import cpu
from referee.processes.limits import Limits
from tests.catalogue.row import (
    PAUSES,
    AtRandom,
    Case,
    Checked,
    Defect,
    Drawn,
    Elsewhere,
    Rows,
    When,
    Why,
    asked,
    at_once,
    checked,
    computed_us,
    has_read,
    loading,
    noisy,
    partial,
    too_late,
)
from tests.command import PARENT


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

START: Rows = {
    (1, "command not found"): (
        Elsewhere(BAD_WORDS),
        Elsewhere("test_processes.py::test_a_program_that_vanished_does_not_start"),
        Elsewhere("test_tournament.py::test_a_bot_that_never_starts_is_tried_three_times"),
    ),
    (2, "file not executable"): (
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
    (3, "bad interpreter line"): (
        Case(
            ("./b",),
            "start",
            "No such file or directory: `./b`",
            "no such program",
            setup="printf '#!/no/such\\n' >b; chmod +x b",
            hint="the interpreter that its first line (`#!/no/such`) names is not installed",
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
    (4, "wrong architecture"): (
        Case(
            ("./b",),
            "start",
            "Exec format error: `./b`",
            setup="printf '\\177ELFxx' >b; chmod +x b",
            hint="this machine cannot run it",
        ),
    ),
    (5, "exits 0 at once"): (
        Case("exit 0", "start", "exited with status 0"),
        AtRandom("exits before ready", When.START, "start"),
    ),
    (6, "exits non-zero at once"): (
        Case("echo boom >&2; exit 3", "start", "exited with status 3", stderr="boom"),
        Checked("missing_module"),
        Defect("crashes at the start", 1, "exited with status 1 before it sent `hello`"),
    ),
    (7, "slow start within the allowance"): (
        Elsewhere("test_processes.py::test_a_slow_start_costs_no_move_time"),
        Checked("slow_start", start="10s", steps=(2,)),
    ),
    (8, "start longer than the allowance"): (
        Elsewhere(f"{NO_START}[never starts]"),
        Case("listen seed; sleep 600", "start", "nothing came", "after hello", late=loading),
        *checked("very_slow_start", "slow_hello", "ready_slow"),
        Defect(
            "is never ready",
            2,
            "did not answer `prepare` with `ready` within {time}: nothing came",
            late=loading,
            hangs=True,
        ),
    ),
    (9, "a hundred bots start together"): (
        Why("no more start at a time than workers times seats, and the allowance is a setting"),
    ),
    (10, "noise on stdout before hello"): (
        Case("echo Engine v1; echo; asked; answer", noise=("Engine v1", "")),
        Case("listen prepare; echo book loaded; asked; answer", name="after ready", noise=("book loaded",)),
        Elsewhere("test_match.py::test_a_banner_before_hello_does_no_harm"),
        Checked("banner"),
    ),
    (11, "needs a terminal"): (
        Case(
            'test -t 0 || { echo "not a tty" >&2; exit 1; }; play',
            "start",
            "exited with status 1",
            "on pipes",
            stderr="not a tty",
            hint="set `pty`",
        ),
        Case("test -t 0 && test -t 1 && play", name="and has one", pty=True),
    ),
    (12, "talks to the operator's terminal"): (
        Elsewhere("test_catalogue.py::test_a_bot_does_not_reach_the_referee_s_terminal"),
    ),
    (13, "relative paths from another folder"): (
        Elsewhere("test_tournament.py::test_relative_paths_are_the_file_s_also_where_it_moves"),
    ),
    (14, "the bot's folder vanishes"): (
        Elsewhere("test_catalogue.py::test_a_folder_that_vanishes_costs_its_bot_the_games_that_follow"),
    ),
    (15, "the same bot in both seats"): (
        Elsewhere("test_cli.py::test_bots_of_one_program_get_different_names"),
    ),
}

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

OUTPUT: Rows = {
    (16, "no newline, then exit"): (
        Case(
            'asked; printf "move $n $move"',
            "gone",
            "exited with status 0; its last line has no newline: move 1 L:A1",
        ),
        AtRandom("exits without a newline", When.NOW, "gone"),
        AtRandom("exits within a line", When.NOW, "gone"),
    ),
    (17, "no newline, stays alive"): (
        Case(
            'asked; printf "move $n $move"; sleep 600',
            "time",
            "a line without a newline came: move 1 L:A1",
            late=partial,
            hint="end each line with a newline",
        ),
        too_late("half an answer"),
        Checked("no_newline"),
        Defect(
            "says hello without a newline",
            2,
            "a line without a newline came: hello 1",
            late=lambda place: partial(place).endswith(b"1"),
        ),
    ),
    (18, "output is not flushed"): (
        Case(
            python(UNFLUSHED.format(flush=True)),
            "time",
            "nothing came",
            "the answer",
            late=asked,
            hint="its answer came only when its input was closed",
        ),
        Case(
            python(UNFLUSHED.format(flush=False)),
            "start",
            "nothing came",
            "hello",
            start="20ms",
            hint="its answer came only when its input was closed",
        ),
        Elsewhere("test_processes.py::test_the_environment_is_defined"),
        *checked(
            "no_flush",
            "no_flush.c",
            "no_flush_of_moves",
            "PrintWriterBot.java",
            "piped_through_sed.sh",
            "reads_to_the_end",
        ),
        Defect(
            "holds its hello back",
            2,
            "did not send `hello` within {time}, but only after its input ended",
            late=has_read,
            held_back=True,
        ),
    ),
    (19, "CR LF"): (
        Case('asked; printf "move $n $move\\r\\n"'),
        AtRandom("carriage return", When.NEVER),
        Checked("crlf"),
    ),
    (20, "lone CR"): (
        Case(
            'asked; printf "move $n $move\\r"; sleep 600',
            "time",
            "move 1 L:A1\\x0d",
            late=lambda place: partial(place).endswith(b"\r"),
            hint="with only a carriage return",
        ),
        Checked("carriage_return"),
    ),
    (21, "NUL in a line"): (
        Case('asked; printf "move $n $move\\000\\n"', "protocol", "L:A1\\x00: there is a control character"),
    ),
    (22, "invalid UTF-8"): (
        Case('asked; printf "move $n \\377\\376\\n"', "protocol", "move 1 \\xff\\xfe: the line is not UTF-8"),
        Case('asked; printf "\\377\\376\\n"; answer', name="noise", noise=("\\xff\\xfe",)),
        AtRandom("no UTF-8", When.NOW, "protocol"),
    ),
    (23, "byte order mark"): (
        Case('asked; printf "\\357\\273\\277move $n $move\\n"', "protocol", "byte order mark"),
        Case('printf "\\357\\273\\277hello 1\\n"; sleep 600', "start", "byte order mark", "hello"),
        AtRandom("byte order mark", When.NOW, "protocol"),
    ),
    (24, "what is a number elsewhere"): (
        *(
            Case(f'asked; printf "move {number} $move\\n"', "protocol", "is not a plain number", name)
            for name, number in NOT_NUMBERS.items()
        ),
        AtRandom("number with a sign", When.NOW, "protocol"),
    ),
    (25, "what ends a line elsewhere"): (
        *(
            Case(f'asked; printf "move $n $move{end}resign $n\\n"', "protocol", "control character", name)
            for name, end in CONTROLS.items()
        ),
        *(
            Case(f'asked; printf "move $n $move{end}resign $n\\n"; play', name=name, rejected=1)
            for name, end in TEXT.items()
        ),
        AtRandom("control character", When.NOW, "protocol"),
    ),
    (26, "empty line"): (Case("asked; echo; answer", noise=("",)), AtRandom("blanks", When.NEVER)),
    (27, "a line of a megabyte"): (
        Case(
            "asked; head -c 1000000 /dev/zero | tr '\\000' x; echo",
            "flood",
            "a line of more than 4096 bytes: xxx",
        ),
    ),
    (28, "endless line"): (
        Elsewhere(f"{FLOODS}[endless line]"),
        Elsewhere("test_messages.py::test_lines_hold_no_more_than_the_cap"),
        AtRandom("endless line", When.NOW, "flood"),
    ),
    (29, "endless lines"): (
        Elsewhere(f"{FLOODS}[endless lines]"),
        Elsewhere(f"{AT_ITS_DEADLINE}[slow lines]"),
        AtRandom("endless lines", When.NOW, "flood"),
        AtRandom("endless log", When.NOW, "flood"),
        AtRandom("flood before ready", When.START, "start"),
        too_late("chatters"),
    ),
    (30, "a byte now and then, for ever"): (
        Elsewhere(f"{AT_ITS_DEADLINE}[drip]"),
        too_late("drips"),
        AtRandom("in pieces", When.NEVER),
    ),
    (31, "two answers at once"): (
        Elsewhere(
            "test_processes.py::test_an_answer_before_the_question_is_out_of_turn_and_a_second_one_is_dropped"
        ),
        Elsewhere(f"{OFF_TURN}[the last answer again]"),
        AtRandom("answers twice", When.NEVER),
        AtRandom("answers the next one too", When.NEXT, "turn"),
        Checked("answers_twice"),
    ),
    (32, "speaks before it is asked"): (
        Case('listen seed; read -r line; printf "ready\\nmove 1 L:A1\\n"; play', "turn", "never asked"),
        Elsewhere("test_processes.py::test_what_was_said_while_the_opponent_thought_is_no_answer"),
        Elsewhere(OFF_TURN),
        AtRandom("next number", When.NOW, "turn"),
        AtRandom("number zero", When.NOW, "turn"),
        AtRandom("old answer", When.NEVER),
    ),
    (33, "floods while the opponent thinks"): (
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
        AtRandom("answers and floods", When.NEXT, "flood"),
        AtRandom("answers and chatters", When.NEVER),
    ),
    (34, "writes after the game ended"): (
        Elsewhere(
            "test_processes.py::test_what_happens_between_two_games_is_judged_in_the_next[says goodbye]"
        ),
        Elsewhere("test_processes.py::test_a_bot_that_says_much_at_the_end_is_not_held_up"),
    ),
    (35, "floods stderr, then moves"): (
        Elsewhere("test_processes.py::test_a_flood_of_stderr_harms_nobody_and_is_kept_at_both_ends"),
        AtRandom("stderr flood", When.NEVER),
    ),
    (36, "stderr is no text"): (
        Case("printf '\\377\\033[2J' >&2; asked; answer", stderr="\\xff"),
        Elsewhere("test_cli.py::test_stderr_of_a_bot_at_fault_is_shown_and_escaped"),
    ),
    (37, "a helper holds stderr open"): (
        Case("sleep 600 <&- >/dev/null & asked; answer; listen quit"),
        Elsewhere("test_processes.py::test_helpers_end_with_the_bot"),
        AtRandom("helper in its group", When.NEVER),
        Checked("leaves_a_process"),
        Defect("leaves a helper", 13, "sleep (pid "),
    ),
    (38, "deep nesting, NaN, double names, endless digits"): (
        Why("bots do not speak JSON; to what the referee reads itself this is done elsewhere"),
        Elsewhere("test_games.py::test_every_game_keeps_to_what_games_have_to"),
        Elsewhere("test_records.py::test_what_is_no_object_is_refused"),
        Elsewhere("test_records.py::test_whatever_stands_in_a_record_it_is_refused_or_plays"),
        Elsewhere(BAD_FILES),
    ),
    (39, "illegal move"): (
        Elsewhere("test_processes.py::test_rejections"),
        Elsewhere("test_match.py::test_the_limit_of_rejections_is_a_game_s_and_a_setting"),
        AtRandom("illegal once", When.NEVER, rejected=1),
        AtRandom("illegal for ever", When.NOW, "illegal", rejected=10),
        *checked("repeats_an_illegal_move", "dies_of_rejected", "waits_after_rejected"),
        Defect("plays on a stone late in the game", 4, "`L:A1` was rejected: occupied, A1 is occupied"),
        Defect(
            "says nothing to a rejection",
            5,
            "after a rejection: the bot ran out of time",
            late=lambda place: b"rejected" in place.connection.session.last_sent,
        ),
        Defect("resigns when it is rejected", 5, "after a rejection: the bot resigned"),
    ),
    (40, "a move with something behind it"): (
        Case('asked; echo "move $n $move now"; play', rejected=1),
        Case('asked; echo "resign $n now"', "protocol", "there is extra text `now`", "resigning"),
    ),
}

UP = "until [ -e up ]; do sleep 0.01; done;"
"""What a bot started is there."""

COMPUTES = "import time; next(used for used in iter(time.process_time, None) if used > 0.6)"

CLOCKS: Rows = {
    (41, "never answers"): (
        Elsewhere(f"{AT_ITS_DEADLINE}[silent]"),
        too_late("silent"),
        too_late("mute", Drawn.DEFAULTED),
        too_late("always late", Drawn.DEFAULTED),
        Checked("thinks_too_long"),
        Checked("slow_first_move", steps=(6,)),
        Checked("ignores_the_clock", steps=(5, 6)),
        Defect(
            "says nothing", 3, "did not answer its first question within {time}: nothing came", late=asked
        ),
        Defect(
            "takes its time where there is little",
            6,
            "under {time}, question 1: the bot ran out of time",
            hangs=True,
        ),
    ),
    (42, "just inside and just outside the limit"): (
        Elsewhere(TABLE_OF_VERDICTS),
        Elsewhere("test_processes.py::test_time_is_rounded_up"),
    ),
    (43, "uses the reserve to the last"): (
        Elsewhere("test_clock.py::test_loses_when_the_reserve_cannot_pay"),
        Elsewhere("test_match.py::test_a_reserve_is_used_up_step_by_step_and_then_loses"),
        Elsewhere("test_processes.py::test_steps_of_reserve_are_charged_and_the_record_shows_it"),
    ),
    (44, "computes while the opponent thinks"): (
        Case("asked; answer; (while :; do :; done) & asked; kill $!; answer", foe=PAUSES),
    ),
    (45, "sleeps to save its clock"): (
        Case("asked; sleep 600", "time", "nothing came", clock="cpu:100ms", linux=True),
    ),
    (46, "lets another process think"): (
        Case(
            f"asked; (setsid sh -c \"{{python}} -I -S -c '{COMPUTES}'; echo >up\" &); {UP} answer",
            "time",
            clock="cpu:200ms",
            linux=True,
        ),
    ),
    (47, "the referee is stopped while a bot thinks"): (
        Elsewhere("test_processes.py::test_the_referee_s_own_stoppage_is_not_the_bot_s_time"),
        Elsewhere("test_processes.py::test_an_answer_beyond_its_time_while_the_referee_is_stopped"),
    ),
    (48, "the referee is starved"): (Elsewhere("test_catalogue.py::test_a_busy_machine_is_no_bot_s_fault"),),
    (49, "the system's clock is set"): (
        Elsewhere("test_stopwatch.py::test_a_clock_that_was_set_is_not_believed"),
    ),
    (50, "the machine is suspended"): (
        Why("a test cannot suspend its machine; the clock that is used stands still meanwhile"),
    ),
    (51, "the referee collects its garbage"): (
        Elsewhere("test_time.py::test_garbage_is_collected_between_games"),
    ),
    (52, "slow rules"): (
        Elsewhere("test_catalogue.py::test_slow_rules_cost_no_bot_its_time"),
        Elsewhere("test_catalogue.py::test_slow_rules_for_one_seat_cost_the_other_nothing"),
    ),
    (53, "slow disk"): (Elsewhere("test_catalogue.py::test_a_slow_disk_costs_no_bot_its_time"),),
    (54, "time is up while it is ended"): (
        Case("trap '' TERM INT HUP; asked; answer; while :; do sleep 1; done"),
        Elsewhere("test_processes.py::test_a_bot_that_does_not_quit_is_ended"),
        AtRandom("stays after quit", When.NEVER),
        AtRandom("ignores TERM after quit", When.NEVER),
        *checked("ignores_quit", "endless_timer.js", "crash_at_quit"),
        Defect("does not quit", 12, "`quit` and the end of its input; it was ended by SIGTERM", hangs=True),
    ),
    (55, "a limit of nothing, of less, of too much"): (
        Elsewhere("test_clock.py::test_refuses"),
        Elsewhere(BAD_WORDS),
        Elsewhere(BAD_FILES),
    ),
}

INPUT: Rows = {
    (56, "never reads what is short"): (
        Elsewhere(f"{AT_ITS_DEADLINE}[never reads]"),
        Defect(
            "never reads", 2, "did not send `hello` within {time}: nothing came", late=at_once, hangs=True
        ),
    ),
    (57, "never reads what is long"): (
        Elsewhere(f"{AT_ITS_DEADLINE}[lists and never reads]"),
        Elsewhere("test_processes.py::test_the_ending_of_a_bot_that_was_late_says_what_came"),
    ),
    (58, "thinks before it reads all"): (
        Case(
            "asked; answer; asked; for i in 1 2 3 4; do echo list $n; done; sleep 600",
            "time",
            "were not read",
            foe=PAUSES,
            late=lambda place: place.connection.unsent,
        ),
    ),
    (59, "closes its input and lives"): (
        Case(
            "asked; answer; exec 0<&-; exec sleep 600",
            "gone",
            "closed its input",
            foe=PAUSES,
            hint="keep both open until `quit`",
        ),
        Elsewhere(f"{NO_START}[closes input]"),
        AtRandom("closes input and answers", When.NEXT, "gone"),
    ),
    (60, "dies before it is written to"): (
        Case("asked; answer; kill -9 $$", "gone", "was ended by SIGKILL", foe=PAUSES),
        Elsewhere(f"{GONE_AT_ONCE}[exits after ready]"),
        AtRandom("exits after ready", When.FIRST, "gone"),
    ),
    (61, "more pipes than have their full size"): (
        Elsewhere("test_catalogue.py::test_plays_with_small_pipes_and_large_descriptors"),
    ),
    (62, "descriptors from 1024 on"): (
        Elsewhere("test_catalogue.py::test_plays_with_small_pipes_and_large_descriptors"),
    ),
    (63, "few descriptors"): (
        Elsewhere("test_catalogue.py::test_few_descriptors_are_enough_or_the_environment_s_lack"),
    ),
}

DAEMON = "setsid sh -c 'echo >up; exec sleep 600' &"

HELPERS = "i=0; while [ $i -lt 200 ]; do sleep 600 & i=$((i+1)); done;"

PROCESSES: Rows = {
    (64, "answers, then exits"): (
        Elsewhere("test_processes.py::test_the_move_before_the_exit_counts"),
        AtRandom("answers and exits", When.NEXT, "gone"),
        AtRandom("answers and kills itself", When.NEXT, "gone"),
        AtRandom("exits at the end", When.AFTER, "start"),
        *checked("one_game_only", "crash_at_the_end"),
        Defect("exits behind its hello", 2, "did not get ready: exited with status 3"),
        Defect(
            "exits at the end of a game", 7, "in the second game: the bot did not start: exited with status 0"
        ),
    ),
    (65, "crashes"): (
        Case(
            "asked; kill -SEGV $$",
            "gone",
            "was ended by SIGSEGV",
            "by a bad address",
            hint="invalid memory access",
        ),
        Case("asked; kill -ABRT $$", "gone", "was ended by SIGABRT", "by abort"),
        AtRandom("exits", When.NOW, "gone"),
        *checked("crash_late", "wild_pointer.c"),
        Defect("exits when it is asked", 3, "it crashed: exited with status 3"),
    ),
    (66, "kills itself"): (
        Elsewhere(f"{GONE_AT_ONCE}[kills itself]"),
        AtRandom("kills itself", When.NOW, "gone"),
        Defect("kills itself when it is asked", 3, "it crashed: was ended by SIGSEGV"),
    ),
    (67, "its output ends before it has exited"): (
        Case("asked; kill -SEGV $$", "gone", "was ended by SIGSEGV", games=30),
    ),
    (68, "closes its output and lives"): (
        Elsewhere(f"{GONE_AT_ONCE}[closes output]"),
        AtRandom("closes output", When.NOW, "gone"),
        AtRandom("closes stderr", When.NEVER),
    ),
    (69, "ignores SIGTERM"): (Elsewhere(f"{AT_ITS_DEADLINE}[ignores TERM]"), too_late("ignores TERM")),
    (70, "stops itself"): (
        Elsewhere(f"{AT_ITS_DEADLINE}[stops itself]"),
        Case("asked; kill -STOP $PPID; answer; listen quit", name="and what watches over it", linux=True),
        Case(
            f"{PARENT}asked; kill -STOP $(parent $PPID) || exit; answer; listen quit",
            name="and what starts bots",
            linux=True,
        ),
        too_late("stops itself"),
    ),
    (71, "a helper holds its output open"): (
        Elsewhere(f"{GONE_AT_ONCE}[leaves a helper]"),
        AtRandom("exits, a helper holds its output", When.NOW, "gone"),
    ),
    (72, "a helper in a session of its own"): (
        Case(f"{DAEMON} {UP} asked; answer; listen quit", name="of a good bot", linux=True),
        Case(f"{DAEMON} {UP} asked; exit 3", "gone", "exited with status 3", escaped="sleep", linux=True),
        AtRandom("helper in a session", When.NEVER),
        Defect("lets a helper escape", 13, "outside its process group"),
    ),
    (73, "a helper of a helper that is gone"): (
        Case(f"({DAEMON}) & wait $!; {UP} asked; answer; listen quit", name="of a good bot", linux=True),
        Case(
            f"({DAEMON}) & wait $!; {UP} asked; exit 3",
            "gone",
            "exited with status 3",
            escaped="sleep",
            linux=True,
        ),
        AtRandom("helper in a session, detached", When.NEVER),
    ),
    (74, "kills its process group"): (
        Case("asked; kill -9 0", "gone", "was ended by SIGKILL", any_user=True),
        Elsewhere("test_processes.py::test_a_group_of_its_own"),
    ),
    (75, "kills all that its user runs"): (
        Elsewhere("test_catalogue.py::test_a_bot_that_kills_the_referee_costs_no_game_that_was_played"),
        Elsewhere("test_killed_wardens.py::test_a_bot_that_kills_its_warden_again_and_again_gains_nothing"),
    ),
    (76, "zombies"): (Elsewhere("conftest.py::nothing_is_left"),),
    (77, "a process id is another's by now"): (
        Elsewhere("test_catalogue.py::test_a_bot_keeps_its_number_until_all_of_it_is_ended"),
    ),
    (78, "another's exit status"): (
        Case(
            f"asked; (setsid sh -c 'echo >up; exit 7' &); {UP} sleep 0.1; exit 3",
            "gone",
            "exited with status 3",
            linux=True,
        ),
    ),
    (79, "the thread that started it ends"): (
        Elsewhere("test_catalogue.py::test_a_bot_outlives_the_thread_that_started_it"),
    ),
    (80, "a process that cannot be killed"): (
        Why("it takes a kernel that hangs; nobody waits for it longer than `UNKILLABLE_S`"),
    ),
    (81, "two hundred helpers"): (
        Case(f"asked; {HELPERS} answer; wait", name="allowed", any_user=True),
        Case(
            f"asked; {HELPERS} wait",
            "limit",
            "processes and threads, expected at most 100",
            "not allowed",
            limits=Limits(processes=100),
            linux=True,
            any_user=True,
        ),
    ),
}

BOMB = "bomb() { if [ $1 = 0 ]; then sleep 60; else bomb $(($1-1)) & bomb $(($1-1)) & wait; fi; };"
"""Where nothing stops it, it ends by itself: a test must not take its machine."""

TAKES = "{python} -I -S -c 'import time; much = bytearray(1) * (150 << 20); time.sleep(600)'"

RESOURCES: Rows = {
    (82, "fork bomb"): (
        Case(
            f"{BOMB} asked; bomb 9",
            "limit",
            "processes and threads, expected at most 100",
            limits=Limits(processes=100),
            linux=True,
            any_user=True,
        ),
    ),
    (83, "memory bomb"): (
        Case(
            f"asked; exec {TAKES}",
            "gone",
            "MemoryError",
            "of one process",
            limits=Limits(memory=100 << 20),
            linux=True,
            stderr="MemoryError",
        ),
        Case(
            f"asked; {TAKES} & {TAKES} & {TAKES} & wait",
            "limit",
            "of memory, expected at most 400 MB",
            "of several processes",
            limits=Limits(memory=400 << 20),
            linux=True,
        ),
        Defect("is large", 14, "after 1 game, expected at most"),
    ),
    (84, "the machine runs out of memory"): (
        Case("asked; [ $(cat /proc/self/oom_score_adj) = 1000 ] && answer", name="bots go first", linux=True),
        Why("a test must not take all the memory of its machine"),
    ),
    (85, "fills the disk"): (
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
    (86, "fills a folder with files"): (
        Why("a bot runs in the folder that it was given, and what it writes there is its user's business"),
    ),
    (87, "computes for ever"): (
        Case(
            "asked; while :; do :; done", "limit", "more processor time than it may use", limits=Limits(cpu=1)
        ),
        Defect(
            "computes for ever",
            3,
            "within {time}: nothing came" + "; it computed for " * cpu.AVAILABLE,
            late=lambda place: asked(place) and computed_us(place) > 20_000,
            hangs=True,
        ),
    ),
    (88, "opens many files"): (
        Case(
            "asked; exec {python} -I -S -c 'import os; [os.dup(0) for _ in range(100)]'",
            "gone",
            "OSError [Errno 24] Too many open files",
            limits=Limits(open_files=50),
            stderr="Too many open files",
        ),
    ),
    (89, "core dumps"): (Case('asked; [ "$(ulimit -c)" = 0 ] && answer'),),
    (90, "leaves files for its next game"): (
        Why("a bot runs in the folder that it was given, and may learn"),
    ),
    (91, "a folder that cannot be removed"): (Why("no folder is made for a bot, so none has to be removed"),),
}

PROTOCOL: Rows = {
    (137, "malformed message"): (
        AtRandom("no number", When.NOW, "protocol"),
        AtRandom("no text", When.NOW, "protocol"),
        AtRandom("malformed before ready", When.START, "start"),
        AtRandom("answers and is malformed", When.NEXT, "protocol"),
        *checked("no_number", "move_alone", "too_many_numbers.sh", "no_version", "wrong_version"),
    ),
    (138, "a message at the wrong time"): (
        AtRandom("hello again before ready", When.START, "start"),
        AtRandom("hello again", When.NOW, "turn"),
        AtRandom("ready again", When.NOW, "turn"),
        *checked("ready_early", "ready_forgotten"),
    ),
    (139, "answers under the wrong number"): (
        *checked("answers_first_number", "counts_all_games", "counts_from_0"),
        Defect(
            "answers the old question once more",
            5,
            "after a rejection: the bot ran out of time",
            late=lambda place: place.connection.session.turn.stale_count,
        ),
        Defect("counts the questions of all games", 7, "in the second game: the bot spoke out of turn"),
    ),
    (140, "requests many lists"): (
        AtRandom("seventeen lists", When.NOW, "flood"),
        AtRandom("sixteen lists", When.NEVER),
    ),
    (141, "prints what is no answer"): (
        AtRandom("noise", When.NEVER),
        AtRandom("info", When.NEVER),
        AtRandom("long log", When.NEVER),
        *checked("debug_on_stdout", "moves_on_stderr", "prompt", "prompt_for_moves"),
        Defect(
            "greets in its own words",
            2,
            "a line that is not a message came: `Welcome to BotMaster 3000!`",
            late=noisy,
        ),
        Defect(
            "prints what it thinks and nothing else",
            3,
            "a line that is not a message came: `[debug] best cell A1`",
            late=lambda place: asked(place) and noisy(place),
        ),
    ),
    (142, "misreads its input"): (
        Checked("ScannerBot.java", start="10s"),
        *checked(
            "chunks.js",
            "short_buffer.c",
            "fixed_line_count",
            "dies_of_much_news",
            "dies_of_unknown_messages",
        ),
        Defect("knows words by their beginning", 9, "question 999 was never asked"),
        Defect("knows only of one turn at a time", 10, "moves that the bot did not make: the bot crashed"),
    ),
    (143, "misreads its seat"): (
        *checked("seat_from_0", "seat_misread"),
        Defect("cannot play in seat 2", 4, "in seat 2: `L:Z9` was rejected: no-such-cell"),
    ),
    (144, "writes its moves in another way"): (
        *checked("wrong_notation", "cells_from_0", "row_too_far", "lower_case", "upper_case"),
    ),
    (145, "keeps something of earlier games"): (
        *checked("remembers_the_last_game", "leaks"),
        Defect("leaks", 14, "MB with each game"),
    ),
    (146, "plays otherwise with the same seed"): (Checked("random_by_the_time"),),
    (153, "fails at an end that it did not expect"): (
        Defect("takes every end for a victory", 8, "after a game that ended before the bot's first question"),
        Defect(
            "wants to be asked before the end", 8, "after a game that ended before the bot's first question"
        ),
        Defect("does not take faults of others", 8, "after a game that ended in the middle"),
    ),
    (147, "resigns at once"): (Checked("resigns_at_once"),),
}

MISTAKES = {**START, **OUTPUT, **CLOCKS, **INPUT, **PROCESSES, **RESOURCES, **PROTOCOL}
