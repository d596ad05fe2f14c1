"""How a bot is named and started: command, folder, environment."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.files import is_regular
from referee.core.pairing import BOT_NAME
from referee.core.text import meant, shown
from referee.processes.limits import DEFAULT, Limits

_NAME_FORM = "1 to 64 characters of A-Z a-z 0-9 . _ + -, not only dots"

_PASSED = re.compile(
    r"PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_[A-Z]+|TZ|VIRTUAL_ENV|CONDA_PREFIX|JAVA_HOME|REFEREE_GAME"
)
"""The environment variables that a bot gets from the referee. Those that change how output is buffered
(such as PYTHONUNBUFFERED) are not among them: a bot behaves here as it does elsewhere.
"""

INTERPRETERS = re.compile(
    r"(?:python|pypy)[0-9.]*|node|deno|bun|java|ruby|perl|lua[0-9.]*|php|sh|bash|dash|env|Rscript|julia|wine"
)

_PYTHON = re.compile(r"(?:python|pypy)[0-9.]*")

_PYTHON_FLAGS = re.compile(r"-[bBdEIOPqsSuvx]+")
"""The options of Python that can stand before the file that it runs, apart from those with values."""

_SCRIPTS = frozenset((".py", ".js", ".mjs", ".cjs", ".rb", ".pl", ".lua", ".php", ".R", ".jl"))
"""The endings of files that the other interpreters open by just this name. A shell looks for its file on the
path too.
"""


SAMPLE_BOTS = Path(__file__).parents[1] / "examples" / "sample_bots"
"""Where the sample bots lie: the one that a command calls `@NAME` is the file `NAME_bot.py`."""


def this_python() -> str:
    """The path of the interpreter that runs this, without links and `..` in its folder: in a root of its own,
    a bot has no folders that only lie on the way to another one.
    """
    return _in_resolved_folder(sys.executable)


@cache
def _in_resolved_folder(file: str) -> str:
    path = Path(file)
    return str(path.parent.resolve() / path.name)  # that it is a link itself says in which environment it is


def filled(text: str, values: Iterable[tuple[str, str]]) -> str:
    """A text with the values of parameters, by name, in the place of each `{NAME}`."""
    for name, value in values:
        text = text.replace(f"{{{name}}}", value)
    return text


def _with_python(word: str) -> str:
    """A word of a command with the path of the interpreter. A word with blanks is text for a shell."""
    path = this_python()
    return word.replace("{python}", shlex.quote(path) if re.search(r"\s", word) else path)


@dataclass(frozen=True, slots=True)
class Program:
    """A program that plays, under the name that tables and records give it."""

    name: str
    command: tuple[str, ...]
    """Program and arguments; `{python}` stands for the interpreter that runs the referee, and a program
    `@NAME` for the sample bot of this name. Empty for a person, who takes part by the command line.
    """
    cwd: Path
    env: tuple[tuple[str, str], ...] = ()  # additional environment variables
    pass_env: tuple[str, ...] = ()  # further variables that it gets from the referee's environment
    limits: Limits = DEFAULT
    pty: bool = False  # whether it talks over a terminal instead of pipes
    isolation: str = "none"  # the level of isolation: one of `LEVELS`, or `AUTO` until that is settled
    read: tuple[Path, ...] = ()  # what else it may read, where its files are confined
    hidden: tuple[Path, ...] = ()  # the paths that it may not read, even in its own folder
    writes: tuple[Path, ...] = ()
    """Folders that it may write to, where its files are confined: only as it is built."""
    network: bool = False  # whether it has a network where files are confined: only as it is built
    user: str = ""  # the user that it runs as; empty for the referee's own
    pause: bool = False  # whether its processes are stopped while it is not asked
    forgive_waiting: bool = False  # whether it is not charged while it is ready to run and gets no processor
    parameters: tuple[tuple[str, str], ...] = ()
    """The values of parameters that are tuned, by name: `{NAME}` stands for them in the command and in `env`.
    """

    @property
    def is_person(self) -> bool:
        """Whether a person plays under this name, and no program."""
        return not self.command

    @property
    def argv(self) -> tuple[str, ...]:
        """The words that are executed."""
        program, *words = self.command or ("",)
        if program.startswith("@"):
            given = (filled(word, self.parameters) for word in words)
            return (this_python(), str(SAMPLE_BOTS / f"{program[1:]}_bot.py"), *given)
        return tuple(filled(_with_python(word), self.parameters) for word in self.command)

    @classmethod
    def parse(cls, text: str, cwd: Path) -> Program:
        """A bot from `[name=]command`; the command is split as a shell would, but no shell runs.

        Raises `UsageError`.
        """
        if any(ord(c) < 0x20 or ord(c) == 0x7F for c in text):
            raise UsageError(f"bot `{shown(text)}` contains control characters, expected `[name=]command`")
        name, equals, command = text.partition("=")
        if equals and name != (bare := name.strip()) and not re.search(r"\s", bare):
            meant = shown(f"{bare}={command.strip()}")
            raise UsageError(f"`{shown(text, 80)}` has blanks beside `=`, expected `{meant}`")
        named = bool(equals) and not re.search(r"\s", name)
        if not named:
            name, command = "", text
        words = split(command)
        return cls.of(name if named else name_of(words, cwd), tuple(words), cwd)

    @classmethod
    def of(
        cls,
        name: str,
        command: tuple[str, ...],
        cwd: Path,
        env: tuple[tuple[str, str], ...] = (),
        pass_env: tuple[str, ...] = (),
    ) -> Program:
        """A bot with a checked name. Raises `UsageError`."""
        if not BOT_NAME.fullmatch(name):
            raise UsageError(f"`{shown(name, 80)}` is not a bot name, expected {_NAME_FORM}")
        return cls(name, command, cwd, env, pass_env)

    def check(self) -> None:
        """Raises `UsageError` where the program cannot be found or not executed, or a person would have to
        play.
        """
        self.check_is_program()
        self.check_folder()
        self._check_program()
        self._check_script()

    def check_is_program(self) -> None:
        """Raises `UsageError` where a person would have to play."""
        if self.is_person:  # guard: persons
            raise UsageError(f"`{self.name}` is a person, expected a bot; a person plays with `referee play`")

    def check_own_script(self) -> None:
        """Raises `UsageError` where the file that an interpreter opens is missing in the bot's folder; others
        may exist on another machine.
        """
        if not self._script.startswith("/"):
            self._check_script()

    def check_folder(self) -> None:
        """Raises `UsageError` where the folder to run it in does not exist, or is something else."""
        if not self.cwd.is_dir():
            what = "is not a folder" if self.cwd.exists() else "does not exist"
            raise UsageError(f"bot `{self.name}`: the folder to run it in, `{shown(str(self.cwd))}`, {what}")

    def _check_program(self) -> None:
        if self.command[0].startswith("@"):
            names = sorted(path.name.removesuffix("_bot.py") for path in SAMPLE_BOTS.glob("*_bot.py"))
            if self.command[0][1:] not in names:
                raise UsageError(
                    f"bot `{self.name}`: there is no sample bot `{shown(self.command[0], 80)}`, expected "
                    f"{meant(self.command[0], [f'@{name}' for name in names])}"
                )
            return
        program = self.argv[0]
        if re.fullmatch(r"\{.*\}", program):
            raise UsageError(
                f"bot `{self.name}`: there is no placeholder `{shown(program)}`, expected `{{python}}`"
            )
        if "/" not in program:
            if shutil.which(program, path=self.search_path) is None:
                file, here = self.cwd / program, ""
                if is_regular(file):
                    is_script = file.suffix == ".py" and not os.access(file, os.X_OK)
                    here = f", expected `{'{python} ' if is_script else './'}{shown(program)}`"
                raise UsageError(
                    f"bot `{self.name}`: the program `{shown(program)}` is not on the path{here}"
                )
            return
        path = self.cwd / program
        try:
            path.stat()
        except OSError as error:
            raise UsageError(
                f"bot `{self.name}`: no program at "
                f"`{shown(program)}`{self._place(program)} ({error.strerror})"
            ) from None
        if path.is_dir():
            raise UsageError(f"bot `{self.name}`: `{shown(program)}` is a folder, expected a program")
        if not is_regular(path) or not os.access(path, os.X_OK):
            raise UsageError(
                f"bot `{self.name}`: `{shown(program)}` is not executable, expected a program (chmod +x, or "
                "put its interpreter before it)"
            )

    def _check_script(self) -> None:
        """Raises `UsageError` where the file is missing that an interpreter is certain to open."""
        script = self._script
        if script and not (self.cwd / script).exists():
            raise UsageError(
                f"bot `{self.name}`: the file `{shown(script)}`, which `{shown(self.command[0])}` should "
                f"run, does not exist{self._place(script)}"
            )

    @property
    def _script(self) -> str:
        """The file that an interpreter is certain to open, by its name in the command; empty if none is."""
        program, *words = self.command
        name = Path(program).name
        if program == "{python}" or _PYTHON.fullmatch(name):
            while words and _PYTHON_FLAGS.fullmatch(words[0]):
                del words[0]
        elif not (INTERPRETERS.fullmatch(name) and words and Path(words[0]).suffix in _SCRIPTS):
            return ""
        return words[0] if words and not words[0].startswith("-") else ""

    def _place(self, path: str) -> str:
        """Where a path is looked for, if it does not say so itself."""
        return "" if path.startswith("/") else f" in `{shown(str(self.cwd))}`"

    @property
    def search_path(self) -> str:
        """The folders in which its program is looked for: the `PATH` of its environment."""
        return dict(self.env).get("PATH", os.environ.get("PATH", os.defpath))

    def environment(self) -> dict[str, str]:
        """The environment variables of its process."""
        passed = {
            name: os.environ[name]
            for name in os.environ
            if _PASSED.fullmatch(name) or name in self.pass_env  # guard: environment
        }
        return {**passed, **{name: filled(value, self.parameters) for name, value in self.env}}


def split(command: str) -> list[str]:
    """The words of a command, split as a shell would. Raises `UsageError`."""
    if any(ord(c) < 0x20 or ord(c) == 0x7F for c in command):
        raise UsageError(f"command `{shown(command)}` contains control characters")
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UsageError(f"command `{shown(command)}` cannot be split ({str(error).lower()})") from None
    if not words:
        raise UsageError("the command is empty, expected a program")
    return words


def is_interpreter(program: str) -> bool:
    """Whether a program runs the file that is named after it."""
    return program == "{python}" or INTERPRETERS.fullmatch(Path(program).name) is not None


def name_of(words: list[str], cwd: Path) -> str:
    """A default name for a bot: that of its program, or of the file that an interpreter runs."""
    program, *rest = words
    named = program.removeprefix("@")
    if is_interpreter(program):
        plain = [word for word in rest if not word.startswith("-")]
        files = [word for word in plain if is_regular(cwd / word)]
        named = (files[:1] or plain[-1:] or [program])[0]
    name = Path(named).stem
    return name if BOT_NAME.fullmatch(name) else "bot"


def distinct(bots: Iterable[Program], given: Iterable[bool]) -> list[Program]:
    """The bots under distinct names, compared without regard to case.

    A name that was not `given` but derived gets `-2`, `-3` … where it is taken. Raises `UsageError` where
    two bots were given the same name.
    """
    pairs = list(zip(bots, given, strict=True))
    taken: set[str] = set()
    for bot, was_given in pairs:
        if was_given:
            if bot.name.lower() in taken:
                raise UsageError(
                    f"two bots are named `{bot.name}`, expected different names; capitals make no difference"
                )
            taken.add(bot.name.lower())
    named = []
    for bot, was_given in pairs:
        name, number = bot.name, 1
        while not was_given and name.lower() in taken:
            number += 1
            name = f"{bot.name[:60]}-{number}"
        taken.add(name.lower())
        named.append(replace(bot, name=name))
    return named
