"""What a bot needs to read: the operator's command says so, and nothing in the bot's folder adds to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from referee.processes import needs

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no isolation")


class Place(NamedTuple):
    """A made-up machine: a bot's folder, and a home folder with what is nobody's business."""

    bots: Path
    home: Path

    @property
    def secret(self) -> Path:
        """A private file."""
        return self.home / ".ssh" / "config"

    def reads(self, *command: str, cwd: Path | None = None, path: str = "/usr/bin", **env: str) -> list[Path]:
        """What a bot may read outside of the system's folders."""
        environment = {"HOME": str(self.home), "PATH": path, **env}
        found = needs.find(command, cwd or self.bots, environment).readable
        top = self.home.parent
        return [place for place in found if place.is_relative_to(top) or top.is_relative_to(place)]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """The folders lie two levels below the temporary folder, as home folders lie below `/home`."""
    top = tmp_path.resolve() / "top"
    made = Place(top / "bots", top / "home")
    for file in (made.secret, made.bots / "main.py", made.home / "notes" / "plans.txt"):
        write(file, "text")
    return made


def write(file: Path, text: str = "", mode: int = 0o644) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    file.chmod(mode)
    return file


def interpreter(prefix: Path, name: str = "python3") -> Path:
    """An installation with an interpreter, and with packages."""
    (prefix / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (prefix / "private").mkdir()
    return write(prefix / "bin" / name, "#!/bin/sh\n", 0o755)


def test_the_folders_of_named_files_are_the_bot_s_own(place: Place) -> None:
    assert place.reads("python3", "main.py") == [place.bots]
    assert place.reads("python3", str(place.bots / "main.py"), cwd=Path("/")) == [place.bots]


@pytest.mark.any_user
def test_a_folder_of_the_path_that_may_not_be_entered_is_passed_over(place: Place) -> None:
    """A shell passes over it too. Root may enter all."""
    closed = interpreter(place.home / "closed").parent.parent
    closed.chmod(0)
    try:
        found = place.reads("sh", "main.py", path=f"{closed}/bin:/usr/bin")
    finally:
        closed.chmod(0o755)
    assert place.bots in found


def test_programs_that_a_shell_s_script_names_are_read_and_other_files_are_not(place: Place) -> None:
    program = write(place.home / "src" / "run", "#!/bin/sh\n", 0o755)
    script = f"cd /;exec $HOME/src/run {place.secret} <{place.home}/notes/plans.txt"
    assert place.reads("sh", "-c", script, cwd=Path("/")) == [program.parent]


@pytest.mark.parametrize("named", ["", "/", ".."])
def test_a_home_folder_is_never_read_whole(place: Place, named: str) -> None:
    program = write(place.home / "bot", "#!/bin/sh\n", 0o755)
    words = [str(program), *([str(place.home) + named] if named else [])]
    assert place.reads(*words, cwd=place.home) == [program]


def test_of_an_installation_only_its_own_folders_are_read(place: Place) -> None:
    program = interpreter(place.home / "venv")
    assert place.reads(str(program), "main.py") == [
        place.bots,
        place.home / "venv" / "bin",
        place.home / "venv" / "lib",
    ]
    assert place.reads("main.py", path=str(program.parent))[1:] == [
        program.parent,
        place.home / "venv" / "lib",
    ]


def test_data_of_the_user_beside_programs_of_the_user_are_not_read(place: Place) -> None:
    program = interpreter(place.home / ".local")
    (place.home / ".local" / "share" / "keyrings").mkdir(parents=True)
    (place.home / "share").mkdir()
    (place.home / "bin").mkdir()
    path = f"{program.parent}:{place.home}/bin"
    local = [place.home / ".local" / "bin", place.home / ".local" / "lib"]
    assert place.reads("main.py", path=path) == [place.bots, *local, place.home / "bin"]


def test_packages_that_are_being_developed_are_read(place: Place) -> None:
    program = interpreter(place.home / "venv")
    packages = place.home / "venv" / "lib" / "python3.11" / "site-packages"
    for name in ("one", "two"):
        (place.home / "src" / name).mkdir(parents=True)
    write(
        packages / "one.pth", f"import sys\n{place.home / 'src' / 'one'}\n{place.home}\n/\n{place.home}/\0\n"
    )
    mapping = {"two": str(place.home / "src" / "two")}
    write(packages / "__editable___two_finder.py", f"MAPPING: dict[str, str] = {mapping}\nNAMESPACES = 1\n")
    read = place.reads(str(program), "main.py")
    assert read[1:3] == [place.home / "src" / "one", place.home / "src" / "two"]
    assert place.home not in read


def test_a_link_beside_the_bot_s_folder_is_the_operator_s(place: Place) -> None:
    (place.bots.parent / "link").symlink_to(place.home / "notes")
    word = "../link/plans.txt"
    assert place.reads("python3", word) == [place.bots, place.home / "notes"]
    found = needs.find(["python3", word], place.bots, {"PATH": "/usr/bin"})
    assert found.links[str(place.bots.parent / "link")] == str(place.home / "notes")


def test_a_link_in_a_folder_of_programs_is_the_operator_s(place: Place) -> None:
    write(place.home / "src" / "mine" / "run", "#!/bin/sh\n", 0o755)
    (place.bots / "bin").mkdir()
    (place.bots / "bin" / "mine").symlink_to(place.home / "src" / "mine" / "run")
    read = place.reads("mine", path=f"{place.bots}/bin:/usr/bin")
    assert read == [place.bots, place.home / "src" / "mine"]


# What the author of a bot may try, in the bot's folder: each returns the words of the operator's command.


def link_to_a_file(place: Place) -> list[str]:
    (place.bots / "data.txt").symlink_to(place.secret)
    return ["python3", "main.py", "data.txt"]


def option_that_names_a_link(place: Place) -> list[str]:
    (place.bots / "data.txt").symlink_to(place.secret)
    return ["python3", "main.py", "--data=data.txt", f"{place.bots}/data.txt:main.py"]


def script_that_is_a_link(place: Place) -> list[str]:
    (place.bots / "other.py").symlink_to(place.home / "notes" / "plans.txt")
    return ["python3", "other.py"]


def link_in_the_middle(place: Place) -> list[str]:
    (place.bots / "conf").symlink_to(place.secret.parent)
    return ["python3", "main.py", "conf/config"]


def link_to_a_folder(place: Place) -> list[str]:
    (place.bots / "conf").symlink_to(place.home / "notes")
    return ["java", "-cp", "conf:main.py", "Main"]


def links_to_links(place: Place) -> list[str]:
    last = str(place.secret)
    for number in range(20):
        (place.bots / f"link-{number}").symlink_to(last)
        last = f"../bots/link-{number}"
    return ["python3", "main.py", "link-19"]


def program_that_is_a_link_to_data(place: Place) -> list[str]:
    place.secret.chmod(0o755)
    (place.bots / "run").symlink_to(place.secret)
    return ["./run"]


def first_line(place: Place) -> list[str]:
    write(place.bots / "run", f"#!{place.secret} {place.home} {place.home}/notes/plans.txt\n", 0o755)
    return ["./run"]


def first_line_with_a_program(place: Place) -> list[str]:
    program = write(place.home / "project" / "bin" / "deploy", "#!/bin/sh\n", 0o755)
    (place.home / "project" / "lib").mkdir()
    write(place.bots / "run", f"#!{program}\n", 0o755)
    return ["./run"]


def first_line_without_libraries(place: Place) -> list[str]:
    program = write(place.home / "project" / "bin" / "python3", "#!/bin/sh\n", 0o755)
    write(place.bots / "run", f"#!/usr/bin/env {program}\n", 0o755)
    return ["./run"]


def environment_in_a_home_folder(place: Place) -> list[str]:
    """An interpreter in `bin` of a home folder with `lib` beside does not open the home folder."""
    (place.home / "lib").mkdir()
    write(place.bots / "run", f"#!{write(place.home / 'bin' / 'python3', '#!/bin/sh', 0o755)}\n", 0o755)
    return ["./run"]


def setting_of_an_environment(place: Place) -> list[str]:
    program = interpreter(place.bots / "venv")
    write(place.bots / "venv" / "pyvenv.cfg", f"home = {place.home}/notes\nhome = /\nhome = {place.home}\n")
    return [str(program), "main.py"]


def file_of_paths(place: Place) -> list[str]:
    program = interpreter(place.bots / "venv")
    packages = place.bots / "venv" / "lib" / "python3.11" / "site-packages"
    write(packages / "x.pth", f"{place.home}/notes\n{place.secret}\n/\n/root\n")
    write(packages / "__editable___x_finder.py", f"MAPPING = {{'x': '{place.home}/notes'}}\n")
    return [str(program), "main.py"]


def libraries_that_are_a_link(place: Place) -> list[str]:
    program = write(place.bots / "venv" / "bin" / "python3", "#!/bin/sh\n", 0o755)
    (place.bots / "venv" / "lib").symlink_to(place.home / "notes")
    (place.bots / "venv" / "share").symlink_to(place.home)
    return [str(program), "main.py"]


ATTEMPTS = [
    link_to_a_file,
    option_that_names_a_link,
    script_that_is_a_link,
    link_in_the_middle,
    link_to_a_folder,
    links_to_links,
    program_that_is_a_link_to_data,
    first_line,
    first_line_with_a_program,
    first_line_without_libraries,
    setting_of_an_environment,
    file_of_paths,
    libraries_that_are_a_link,
]


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt.__name__)
def test_nothing_in_a_bot_s_folder_opens_another(place: Place, attempt: Callable[[Place], list[str]]) -> None:
    words = attempt(place)
    assert place.reads(*words) in ([place.bots], [])
    from_elsewhere = [  # where only the words name the bot's folder
        str(place.bots / word) if os.path.lexists(place.bots / word.partition("/")[0]) else word
        for word in words
    ]
    assert place.reads(*from_elsewhere, cwd=Path("/")) in ([place.bots], [])


def test_an_interpreter_in_a_home_folder_opens_only_its_own_folder(place: Place) -> None:
    read = place.reads(*environment_in_a_home_folder(place))
    assert read == [place.bots, place.home / "bin"]


def test_an_interpreter_that_the_bot_s_folder_links_to_is_read(place: Place) -> None:
    program = interpreter(place.home / "versions" / "3.11")
    (place.bots / ".venv" / "bin").mkdir(parents=True)
    (place.bots / ".venv" / "bin" / "python").symlink_to(program)
    packages = program.parent.parent / "lib" / "python3.11" / "site-packages"
    write(packages / "x.pth", f"{place.home}/notes\n")
    prefix = place.home / "versions" / "3.11"
    assert place.reads(".venv/bin/python", "main.py") == [place.bots, prefix / "bin", prefix / "lib"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of another user")
def test_an_interpreter_of_another_user_that_is_private_is_not_read(place: Place) -> None:
    program = interpreter(place.home / "venv")
    os.chown(program, 64_999, 64_999)
    write(place.bots / "run", f"#!{program}\n", 0o755)
    place.home.chmod(0o700)
    assert place.reads("./run") == [place.bots]


def test_a_program_that_the_bot_s_folder_links_to_is_read_alone(place: Place) -> None:
    program = write(place.home / "src" / "run", "#!/bin/sh\n", 0o755)
    (place.bots / "run").symlink_to(program)
    assert place.reads("./run") == [place.bots, program]


@pytest.mark.slow
def test_strange_files_neither_hang_nor_break_the_search(place: Place) -> None:
    os.mkfifo(place.bots / "fifo", 0o755)
    (place.bots / "loop").symlink_to("loop")
    for number in range(100):
        (place.bots / f"chain-{number}").symlink_to(f"chain-{number + 1}")
    (place.bots / "zeros").touch(0o755)
    os.truncate(place.bots / "zeros", 1 << 40)
    (place.bots / "text").write_bytes(b"#!/usr/bin/env -S '\xff\0 \n")
    (place.bots / "nul").write_bytes(b"#!/usr/bin/\0python\n")
    write(place.bots / "quote", "#!/bin/sh '\n")
    odd = [os.fsdecode(b"\xff\xfe"), "a\nb", "a:b", "-", "*", "x" * 255, "=", "a b"]
    for name in odd:
        write(place.bots / name, "#!/bin/sh\n", 0o755)
    words = [
        "fifo",
        "loop",
        "chain-0",
        "zeros",
        "text",
        "nul",
        "quote",
        *odd,
        "x" * 5000,
        "\0",
        "",
        "'",
        "~/",
    ]
    for word in words:
        for command in ([word], [f"./{word}"], ["python3", word], ["sh", "-c", f"exec ./{word} '"]):
            assert place.reads(*command) == [place.bots]


def test_a_long_line_of_interpreters_is_followed_to_some_depth(place: Place) -> None:
    for number in range(500):
        write(place.bots / str(number), f"#!{place.bots}/{number + 1}\n", 0o755)
    assert place.reads("./0") == [place.bots]


def test_links_to_the_system_s_folders_are_made_again(place: Place) -> None:
    """Where files are bound one by one, paths that programs use have to lead to them."""
    found = needs.find(["true"], place.bots, {"PATH": "/usr/bin"})
    for name in ("/bin", "/lib"):
        if Path(name).is_symlink():
            assert found.links[name] == str(Path(name).readlink())
            assert Path(name) not in found.readable
    assert all(not path.is_symlink() for path in found.readable)
