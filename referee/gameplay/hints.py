"""Hints beyond those of endings: what a fault often means, for the author of the bot.

Where nothing better is known, the ending's own hint stands (`referee/gameplay/events.py`).
"""

from __future__ import annotations

import codecs
import errno
import os
import re
import signal
from collections.abc import Collection, Sequence
from pathlib import Path

from referee.core.settings import CONFINED
from referee.core.text import shown
from referee.core.units import seconds
from referee.gameplay.events import Rejected
from referee.games import GAMES
from referee.protocol.messages import WORDS_OF, Speaker

_INTERPRETERS = {".py": ("python3", "python", "pypy"), ".js": ("node",), ".sh": ("sh", "bash", "dash")}
"""By suffix, the programs that run such scripts, the most common one first."""

_SHELLS = _INTERPRETERS[".sh"]

NOT_EXITED = "exit on `quit` and at the end of the input; a thread or timer may keep the process alive"

_WITH_CARRIAGE_RETURNS = (
    "its first line ends with a carriage return: save it with Unix line endings (LF, not CRLF)"
)

_A_TERMINAL = re.compile(r"\btty\b|not a terminal|Inappropriate ioctl", re.IGNORECASE)

_ENDED_BY = {
    signal.SIGSEGV: "invalid memory access: a bad pointer, an index out of range, or a stack overflow",
    signal.SIGBUS: "access to memory that does not exist",
    signal.SIGABRT: "it aborted: a failed assertion or an uncaught exception",
    signal.SIGFPE: "it divided by zero",
    signal.SIGILL: "an instruction that this machine does not support: it may be built for another one",
    signal.SIGPIPE: "it wrote to a pipe that nobody reads",
    signal.SIGKILL: "it was killed, by itself or by the system, for example because memory ran out",
}


_PREVENTED = {
    "memory": (
        errno.ENOMEM,
        r"can(no|')t allocate|cannot map|failed to map|out of memory|MemoryError|bad_alloc|ENOMEM",
    ),
    "open_files": (errno.EMFILE, r"too many open files|error 24\b|EMFILE"),
    "file_size": (errno.EFBIG, r"file too large|EFBIG"),
}
"""By limit, the number of the error of what it prevents, and how programs word that on stderr."""

LATE = "it answers, but too late: `ask` says how long it may take"

HELD_BACK = (
    "its answer came only when its input was closed: flush after each line, and read line by line, not until "
    "the end of the input (or it was just too late)"
)

BUSY = (
    "the machine was busy, and the bot mostly waited for a processor: play fewer games at a time "
    "(`workers`), or allow more time"
)

UNEXPECTED = {
    "hello": "answer the referee's first line with `hello 1`, once, and write nothing before it",
    "ready": "send `ready` only in answer to `prepare`, once for each game, and not with `hello`",
}
"""By its word, a hint at a message that the bot may send at other times."""


_TRACEBACK = "Traceback (most recent call last)"

_EXCEPTION = re.compile(
    rf"{re.escape(_TRACEBACK)}|^\w+Error: |^Exception in thread|^thread '.*' panicked at|^\s+at .*[:(]"
    r"|^panic: ",
    re.MULTILINE,
)
"""What programs in several languages write when an exception ends them."""

_ANSWER_WITHIN = re.compile(r"\bhello [0-9]|\bready$|\b(?:move|resign) [0-9]")

_KEPT_FROM = re.compile(
    r"permission denied|not permitted|no such file|cannot (?:open|load|access|find module)|read-only file"
    r"|no module named|unable to access|could not find or load|EACCES|ENOENT|EPERM|EROFS",
    re.IGNORECASE,
)
"""What programs in several languages write where a file is closed to them, or is not there."""

_READ_KEY = "`read = [...]` in a tournament file"

_NO_FILE = re.compile(r"no such file|ENOENT", re.IGNORECASE)


def isolated(level: str, stderr: str) -> str:
    """A hint for a bot that complains about files, at a level of isolation that confines them."""
    if level not in CONFINED or not _KEPT_FROM.search(stderr):
        return ""
    missing = (
        "a file does not exist (a relative path starts from the folder that the bot is run in: open files "
        "beside the program relative to it, in Python to `__file__`) or is hidden: "
        if _NO_FILE.search(stderr)
        else ""
    )
    return (
        f"{missing}with isolation `{level}` a bot can only read its own folder, installed programs and what "
        f"{_READ_KEY} lists, and only write to the folder that TMPDIR names"
    )


def prevented_by(error: int, limits: Collection[str]) -> str:
    """The limit, one of those that a bot has, that prevents something with this error; empty if none does."""
    return next((name for name in _PREVENTED if name in limits and _PREVENTED[name][0] == error), "")


def not_started(
    error: int, first_line: bytes | None, limits: Collection[str] = (), isolation: str = "none"
) -> str:
    """A hint for a program that could not be executed. `first_line`: the beginning of its file, if there is
    one; `limits`: the limits that the bot has; `isolation`: its level.
    """
    if limit := prevented_by(error, limits):
        return _of_limit(limit)
    match error:
        case errno.EACCES if hint := isolated(isolation, os.strerror(error)):
            return f"{hint}; or it is not executable (chmod +x)"
        case errno.EACCES:
            return "make it executable (chmod +x), or name its interpreter before it"
        case errno.ENOENT:
            return _of_interpreter(first_line, isolation)
        case errno.ENOEXEC if first_line is not None and first_line.startswith(codecs.BOM_UTF8):
            return "it begins with a byte order mark: save it as UTF-8 without one (BOM)"
        case errno.ENOEXEC if first_line is not None and _is_text(first_line):
            return "add a first line such as #!/usr/bin/env python3 to it, or name its interpreter before it"
        case errno.ENOEXEC:
            return "this machine cannot run it: it may have been built for another one"
    return ""


def _is_text(line: bytes) -> bool:
    return line.decode("utf-8", "replace").rstrip("\r").replace("\t", " ").isprintable()


def _of_interpreter(first_line: bytes | None, isolation: str) -> str:
    """A hint for a script whose interpreter was not found; empty where the program is no script."""
    if first_line is None or not first_line.startswith(b"#!"):
        return ""
    if first_line.endswith(b"\r"):
        return _WITH_CARRIAGE_RETURNS
    named = f"the interpreter that its first line (`{shown(first_line, 60)}`) names is not installed"
    return named + _or_hidden(isolation)


def _or_hidden(isolation: str) -> str:
    return f", or isolation `{isolation}` hides it: see {_READ_KEY}" if isolation in CONFINED else ""


def _interpreter(first_line: bytes | None) -> str:
    """The name of the program that runs a script with this first line; empty where it is no script."""
    if first_line is None or not first_line.startswith(b"#!"):
        return ""
    program, *arguments = first_line[2:].decode("utf-8", "replace").split() or [""]
    named = [word for word in arguments if not word.startswith("-")]
    return Path(named[0] if Path(program).name == "env" and named else program).name


def _of_limit(limit: str) -> str:
    return f"its limit `{limit}` is too small: raise it, or make the bot use less"


def wrong_interpreter(command: Sequence[str], first_line: bytes | None = None) -> str:
    """A hint for a bot that failed where its command, or the first line of its program, gives a script to the
    interpreter of another language; empty where neither does.
    """
    if program := _interpreter(first_line):
        script, where = Path(command[0]), ", which its first line names,"
    else:
        program, script, where = Path(command[0]).name, Path(command[1] if len(command) > 1 else ""), ""
    known = [suffix for suffix, names in _INTERPRETERS.items() if program.startswith(names)]
    if script.suffix not in _INTERPRETERS or not known or script.suffix in known:
        return ""
    expected = _INTERPRETERS[script.suffix][0]
    return f"`{shown(program)}`{where} does not run `{shown(script.name)}`, expected `{expected}`"


def of_shell_script(command: Sequence[str], first_line: bytes | None) -> str:
    """A hint for a script with this first line that a command gives to a shell; empty where there is none."""
    is_shell = Path(command[0]).name in _SHELLS
    return _WITH_CARRIAGE_RETURNS if is_shell and first_line and first_line.endswith(b"\r") else ""


def raised(stderr: str) -> str:
    """The last line of the last traceback in Python, such as `KeyError 'Z9'`; empty where there is none."""
    _, traceback, frames = stderr.rpartition(_TRACEBACK)
    exceptions = [line for line in frames.split("\n")[1:] if line[:1].strip()]  # frames are indented
    return exceptions[0].rstrip().replace(": ", " ", 1) if traceback and exceptions else ""


def gone(
    lives: bool,
    code: int | None,
    stderr: str,
    limits: Collection[str] = (),
    isolation: str = "none",
    first_line: bytes | None = None,
) -> str:
    """A hint for a bot that exited, or that only closed a pipe and `lives`; without a `code` it is unknown
    how it ended. The other arguments are those of `not_started`.
    """
    for limit, (_, words) in _PREVENTED.items():
        if limit in limits and re.search(words, stderr, re.IGNORECASE):
            return _of_limit(limit)
    if code == 127:
        return _not_found(stderr, isolation, first_line)
    # Of an exception in Python only the last traceback: not finding a substring is no matter of files.
    if hint := isolated(isolation, stderr.rpartition(_TRACEBACK)[2]):
        missing = "No module named" in stderr
        return "a module is not installed for the Python that runs the bot; or " * missing + hint
    if _A_TERMINAL.search(stderr):
        return "if it needs a terminal instead of pipes, set `pty` for it"
    if _EXCEPTION.search(stderr):
        return "an exception ended it: see its stderr"
    if lives:
        return "it closed its input or output but is still running: keep both open until `quit`"
    return "" if code is None else _exited(code)


def _not_found(stderr: str, isolation: str, first_line: bytes | None) -> str:
    """A hint at what a program was missing that exited with 127."""
    if "error while loading shared libraries" in stderr:
        hint = "a shared library is missing or built for another machine: its stderr names it"
    elif (interpreter := _interpreter(first_line)) and interpreter not in _SHELLS:
        return _of_interpreter(first_line, isolation)
    else:
        hint = "a program that its stderr names was not found; paths are relative to the bot's folder"
    return hint + _or_hidden(isolation)


def _exited(code: int) -> str:
    """A hint at what an exit code means; a negative one is that of a signal."""
    if code < 0:
        return _ENDED_BY.get(signal.Signals(-code), "") if -code in set(signal.Signals) else ""
    match code:
        case 0:
            return (
                "it exited by itself: read lines until `quit` (`end` only ends a game), and act on each by "
                "its first word, however many come between two questions"
            )
        case 126:
            return (
                "the shell could not execute the program: check that it is "
                "executable and built for this machine"
            )
    return ""


def after_refusals(hint: str, refused: Sequence[str], isolation: str) -> str:
    """The hint for a bot that exited, with the last of the system calls that it was refused, if any."""
    if not refused:
        return hint
    last = f"the last system call that isolation `{isolation}` refused was `{refused[-1]}`"
    return f"{hint}; {last}" if hint else last


def of_rejections(rejected: Sequence[Rejected], slug: str) -> str:
    """A hint for a bot whose answers were rejected in a game, from the first of them."""
    first = rejected[0]
    page = f"`referee docs {slug}`" if slug in GAMES else "the game's page"
    legal = "`list N` requests the legal moves"
    if first.reason == "not-a-move" and re.match(r"[0-9]+ ", first.text):
        return "repeat only the first of the numbers in `ask`: `move N TEXT`"
    if first.reason in ("not-a-move", "no-such-cell"):
        counted = "cells are counted from 1; " if re.search(r"[A-Za-z]0\b", first.text) else ""
        spaced = re.search(r" ([:@,])|([:@,]) ", first.text)
        joined = f"write no blanks beside `{spaced[1] or spaced[2]}`; " if spaced else ""
        return f"{counted}{joined}{page} says how moves are written and cells are named; {legal}"
    hint = (
        "the bot's position differs from the referee's: build it from the `news` lines alone, "
        f"which have the moves of all seats, including its own; {page} lists the reasons, and {legal}"
    )
    repeated = len(rejected) > 1 and {one.text for one in rejected} == {first.text}
    return f"{hint}; and {_REPEATED}" if repeated else hint


_REPEATED = (
    "choose another move after `rejected`: the same one is rejected again, and the 10th rejection loses the "
    "game"
)


def came_instead(unsent: int, partial: bytes, noise: str, stale: int) -> str:
    """A hint for a bot whose time is up, from what came instead of its answer; empty if nothing did.

    `unsent`: the number of bytes that it has not read; `partial`: a line that has no newline yet; `noise`,
    `stale`: a line that is no message, and the number of answers to closed questions, since it was asked.
    """
    if unsent:
        return "it does not read its input: read every line as it arrives"
    if stale:
        return "it answered a question that was already closed: use the number of the last `ask`"
    if prompted(noise):
        return _PROMPT
    if partial.endswith(b"\r"):
        return "its lines end with only a carriage return: end them with a newline"
    if partial:
        return "end each line with a newline" if _is_message(partial.decode("utf-8", "replace")) else _PROMPT
    return _of_noise(noise) if noise else ""


def nothing_came(unwritten: bool, loading: bool, start_us: int, computing: bool) -> str:
    """A hint for a bot whose time is up, and which wrote nothing since it was asked.

    `unwritten`: it never wrote anything; `loading`: it was sent `prepare`; `start_us`: what it has to get
    ready; `computing`: it did not just wait.
    """
    late = f"it did not get ready within the {seconds(start_us)} allowed (`start` allows more)"
    if computing and (unwritten or loading):
        return f"{late}: it is still computing, perhaps in an endless loop"
    if computing:
        return "it is still computing: in an endless loop, or for longer than `ask` allows"
    if unwritten:
        return (
            f"{late}: it is still loading, or does not flush its output (`referee docs protocol` says how), "
            "or waits for something other than lines"
        )
    if loading:
        return f"{late}: it is still loading, or does not answer `prepare` with the line `ready`, and flush"
    return "it is waiting for something that does not come, or did not flush its answer"


_PROMPT = (
    "print nothing before the answer on its line, and no prompt (in Python, `input()` without a "
    "text); print debug output to stderr"
)


def _is_message(line: str) -> bool:
    """Whether a line begins with a word of the protocol in any case, or with the beginning of one."""
    word = line.strip().partition(" ")[0].lower()
    return any(known.startswith(word) for known in WORDS_OF[Speaker.BOT])


def prompted(line: str) -> bool:
    """Whether a line has an answer in it that does not begin it, as behind a prompt."""
    return not _is_message(line) and bool(_ANSWER_WITHIN.search(line))


def _of_noise(line: str) -> str:
    word = line.strip().partition(" ")[0]
    if word.lower() in WORDS_OF[Speaker.BOT]:
        return f"write words in lower case: `{word.lower()}`"
    return "an answer is a line such as `move 1 TEXT`; print debug output to stderr"
