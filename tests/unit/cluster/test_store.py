"""The store of a machine: what is kept, unpacked and checked there, and what is refused."""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from referee.cluster.bot_files import BotFiles, sent_files
from referee.cluster.store import KEPT_DAYS, BotUnfit, FileStore, default_store
from referee.core.errors import EnvironmentLacksError
from referee.processes import needs
from referee.processes.program import Program
from referee.records.amendments import LeftOut
from referee.tournament.file.file_list import File
from referee.tournament.plan import BotOrigin
from referee.tournament.run.readiness import with_hidden

EMPTY = hashlib.sha256(b"").hexdigest()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A bot's folder on the referee's machine."""
    folder = tmp_path.resolve() / "source"
    (folder / "data").mkdir(parents=True)
    (folder / "bot.py").write_text("print()")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "data" / "x").write_text("data")
    (folder / "empty").write_text("")
    return folder


Open = Callable[..., FileStore]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the store, once more each time, and closes it in the end."""
    stores: list[FileStore] = []

    def again(note: Callable[[str], None] = lambda line: None) -> FileStore:
        stores.append(FileStore(tmp_path / "store", note))
        return stores[-1]

    yield again
    for store in stores:
        store.close()


@pytest.fixture
def store(opened: Open) -> FileStore:
    return opened()


def files_of(source: Path, command: str = "./run.sh bot.py", **origin: object) -> BotFiles:
    one = Program("a", tuple(command.split()), source)
    return sent_files([one], {"a": BotOrigin(**origin)}, ()).bots[0]  # type: ignore[arg-type]


def send(store: FileStore, source: Path, files: BotFiles) -> None:
    """Sends what the store lacks, as a referee does."""
    sent = sent_files([files.bot], {"a": BotOrigin(build=files.build)}, ())
    for digest in store.lacking([files]):
        for part in sent.parts(digest):
            store.add(digest, *part)


def test_a_bot_is_unpacked_with_its_paths(store: FileStore, source: Path) -> None:
    files = files_of(source, f"./run.sh {source}/bot.py --data={source}/data:{source}")
    files = replace(files, bot=replace(files.bot, env=(("DATA", f"{source}/data"),), read=(source / "data",)))
    files = sent_files([files.bot], {}, ()).bots[0]
    assert store.lacking([files, files]) == [files.digest]
    send(store, source, files)
    bot = store.ready(files)
    assert store.lacking([files]) == []
    assert bot.cwd != source and bot.cwd.is_relative_to(store.folder)
    assert bot.command == ("./run.sh", f"{bot.cwd}/bot.py", f"--data={bot.cwd}/data:{bot.cwd}")
    assert bot.env == (("DATA", f"{bot.cwd}/data"),) and bot.read == (bot.cwd / "data",)
    assert (
        replace(bot, cwd=source, command=files.bot.command, env=files.bot.env, read=files.bot.read)
        == files.bot
    )
    assert (bot.cwd / "data/x").read_text() == "data"
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (bot.cwd, *bot.cwd.rglob("*"))}
    assert modes == {"files": 0o700, "data": 0o700, "run.sh": 0o700} | dict.fromkeys(
        ("bot.py", "x", "empty"), 0o600
    )
    assert store.ready(files) == bot


def test_content_that_comes_out_of_order_or_is_too_large_is_refused(
    store: FileStore, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.cluster.store.MAX_BYTES", 30)
    files = files_of(source)
    (content,) = (part for _, part in sent_files([files.bot], {}, ()).parts(files.digest))
    for first, last in ((0, 4), (4, 2), (4, 5)):
        if first:
            store.add(files.digest, 0, content[:first])
        with pytest.raises(EnvironmentLacksError, match="came in another order, or are too large"):
            store.add(files.digest, last, content[last:])
    with pytest.raises(EnvironmentLacksError, match="too large"):
        store.add(files.digest, 0, b"0" * 31)
    for part in ((0, content[:5]), (0, content[:4]), (4, content[4:])):  # begun anew
        store.add(files.digest, *part)
    store.ready(files)


def test_content_that_is_damaged_is_never_unpacked(store: FileStore, source: Path) -> None:
    files = files_of(source)
    (content,) = (part for _, part in sent_files([files.bot], {}, ()).parts(files.digest))
    for damaged in (content.replace(b"print", b"PRINT"), content[:-1], b""):
        store.add(files.digest, 0, damaged)
        with pytest.raises(EnvironmentLacksError, match=r"bot `a`: `.*` was damaged in transfer"):
            store.ready(files)
        assert store.lacking([files]) == [files.digest]
    store.forget_archives()
    with pytest.raises(EnvironmentLacksError, match="bot `a`: its files are missing on this machine"):
        store.ready(files)
    send(store, source, files)
    store.ready(files)


@pytest.mark.quick_cases(3)
@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "bot.py").write_text("other"),
        lambda folder: (folder / "bot.py").unlink(),
        lambda folder: (folder / "bot.py").chmod(0o700),
        lambda folder: (folder / "run.sh").chmod(0o600),
        lambda folder: ((folder / "bot.py").unlink(), (folder / "bot.py").mkdir()),
        lambda folder: (
            (folder / "data" / "x").unlink(),
            (folder / "data").rmdir(),
            (folder / "data").touch(),
        ),
        lambda folder: ((folder / "data").rename(folder / "d"), (folder / "data").symlink_to("d")),
    ],
)
def test_files_that_were_changed_on_a_machine_are_put_back_and_that_is_told(
    opened: Open, source: Path, change: Callable[[Path], object]
) -> None:
    told: list[str] = []
    store = opened(told.append)
    files = files_of(source, build=("touch", "built"))
    send(store, source, files)
    folder = store.ready(files).cwd
    assert told == ["building a"] and store.changed(files) == ""
    change(folder)
    assert store.changed(files)
    (folder / "built").unlink()
    store.forget_archives()
    send(store, source, files)
    assert store.ready(files).cwd == folder
    assert len(told) == 3 and told[1].startswith(
        "bot `a`: restoring files that were changed on this machine: `"
    )
    assert (folder / "bot.py").read_text() == "print()" and not os.access(folder / "none", os.F_OK)
    assert (folder / "data").resolve() == folder / "data" and (folder / "data/x").read_text() == "data"
    assert stat.S_IMODE((folder / "run.sh").stat().st_mode) == 0o700
    assert (folder / "built").exists(), "it is built again"
    store.ready(files)
    assert len(told) == 3


def test_a_build_that_fails_is_told_with_its_last_lines(store: FileStore, source: Path) -> None:
    files = files_of(source, build=("sh", "-c", "echo first; echo 'no such thing' >&2; exit 3"))
    send(store, source, files)
    expected = LeftOut("a", "it cannot be built: `sh` exited with status 3", ("first", "no such thing"))
    for _ in range(2):
        with pytest.raises(BotUnfit) as failed:
            store.ready(files)
        assert failed.value.bot == expected


def test_a_build_may_replace_and_remove_files_that_were_sent(opened: Open, source: Path) -> None:
    told: list[str] = []
    store = opened(told.append)
    files = files_of(source, build=("sh", "-c", "echo built >>bot.py; rm -r data"))
    send(store, source, files)
    folder = store.ready(files).cwd
    assert (folder / "bot.py").read_text() == "print()built\n"
    store.ready(files)
    assert told == ["building a"] and store.changed(files) == ""
    (folder / "bot.py").write_text("other")
    assert store.changed(files) == "bot.py"
    send(store, source, files)
    store.ready(files)
    assert (folder / "bot.py").read_text() == "print()built\n" and len(told) == 3
    assert not (folder / "data").exists() and store.changed(files) == ""


def test_a_build_has_the_bots_folder_environment_and_interpreter(store: FileStore, source: Path) -> None:
    one = Program("a", ("{python}", "bot.py"), source, env=(("WHAT", "x"),))
    script = "import os; open(os.environ['WHAT'] + str(os.environ.get('SECRET')), 'w')"
    files = sent_files([one], {"a": BotOrigin(build=("{python}", "-c", script))}, ()).bots[0]
    send(store, source, files)
    os.environ["SECRET"] = "1"
    try:
        folder = store.ready(files).cwd
    finally:
        del os.environ["SECRET"]
    assert (folder / "xNone").exists() and not (source / "xNone").exists()


def test_a_build_that_was_interrupted_begins_anew(store: FileStore, source: Path) -> None:
    files = files_of(source, build=("sh", "-c", "[ ! -e half ] && touch half"))
    send(store, source, files)
    folder = store.ready(files).cwd
    (folder.parent / "ready").unlink()
    assert store.ready(files).cwd == folder and (folder / "half").exists()


def test_other_files_other_builds_and_other_users_have_other_folders(store: FileStore, source: Path) -> None:
    first = files_of(source)
    built = files_of(source, build=("true",))
    for files in (first, built):
        send(store, source, files)
    folders = [store.ready(files).cwd for files in (first, built)]
    (source / "data/x").write_text("new")
    changed = files_of(source)
    assert len(store.lacking([changed])) == 1
    send(store, source, changed)
    folders.append(store.ready(changed).cwd)
    assert len({*folders}) == 3
    assert [(folder / "data/x").read_text() for folder in folders] == ["data", "data", "new"]


@pytest.mark.parametrize(
    "path", ["/etc/x", "../x", "a/../../x", "a//b", "", ".", "a/./b", "a\0b", "a" * 3000]
)
def test_paths_that_lead_elsewhere_are_refused(store: FileStore, source: Path, path: str) -> None:
    files = files_of(source)
    hostile = [replace(files, files=(File(path, EMPTY, 0, False),)), replace(files, places=(("/x", path),))]
    if path not in ("", "."):
        hostile.append(replace(files, cwd=path))
    for one in hostile[: 1 if path == "." else None]:
        if one.places and path == "":
            continue
        with pytest.raises(EnvironmentLacksError, match=r"bot `a`: `.*` is not a path inside its folder"):
            store.ready(one)


def test_too_many_too_large_and_equal_paths_are_refused(store: FileStore, source: Path) -> None:
    files = files_of(source)
    for wrong in (
        (File("x", EMPTY, 0, False),) * 2,
        tuple(File(str(number), EMPTY, 0, False) for number in range(10_001)),
        (File("x", EMPTY, 2 << 30, False),),
    ):
        with pytest.raises(EnvironmentLacksError, match="bot `a` has t"):
            store.ready(replace(files, files=wrong))
    inside = replace(files, files=(File("x", EMPTY, 0, False), File("x/y", EMPTY, 0, False)))
    store.add(inside.digest, 0, b"")
    with pytest.raises(EnvironmentLacksError, match="cannot write files of bot `a`: File exists"):
        store.ready(inside)


def test_what_a_machine_lacks_is_told_with_the_name_of_the_bot(store: FileStore, source: Path) -> None:
    files = files_of(source, needs=("no-such-program",))
    with pytest.raises(BotUnfit, match="bot `a`: it needs `no-such-program`") as lacking:
        store.ready(files)
    assert not lacking.value.bot.is_fault
    read = replace(files.bot, read=(Path("/no/such/book"),))
    with pytest.raises(
        EnvironmentLacksError, match="bot `a`: `/no/such/book`, which it must be able to read, does not"
    ):
        send(store, source, files)
        store.ready(replace(files, needs=(), bot=read))
    with pytest.raises(EnvironmentLacksError, match=r"bot `a`: no program at `\./none`"):
        store.ready(replace(files, needs=(), bot=replace(files.bot, command=("./none",))))


def test_shared_bots_are_found_where_they_are_and_compared(store: FileStore, source: Path) -> None:
    files = files_of(source, f"{source}/run.sh {source}/bot.py other", shared=True)
    assert store.lacking([files]) == []
    bot = store.ready(files)
    assert bot.command == files.bot.command and bot.cwd.is_relative_to(store.folder)
    assert [*bot.cwd.iterdir()] == []
    (source / "bot.py").write_text("other")
    with pytest.raises(EnvironmentLacksError) as refused:
        store.ready(files)
    new, old = (hashlib.sha256(text).hexdigest() for text in (b"other", b"print()"))
    expected = f"bot `a`: `{source}/bot.py` differs on this machine: SHA-256 {new}, expected {old}"
    assert str(refused.value) == expected
    (source / "bot.py").unlink()
    with pytest.raises(EnvironmentLacksError, match="differs on this machine: it does not exist, expected"):
        store.ready(files)
    with pytest.raises(EnvironmentLacksError, match="bot `a`: no program at `/none/bot`"):
        store.ready(files_of(source, "/none/bot", shared=True))


def test_the_interpreter_of_a_shared_bot_may_be_another_version(store: FileStore, source: Path) -> None:
    files = files_of(source, f"sh {source}/run.sh", shared=True)
    words = tuple((word, "0" * 64 if word == "sh" else sha256) for word, sha256 in files.words)
    assert dict(words).keys() == {"sh", f"{source}/run.sh"}
    store.ready(replace(files, words=words))


def test_a_shared_bot_has_the_folder_that_its_table_names(store: FileStore, source: Path) -> None:
    files = files_of(source, "sh run.sh", shared=True, has_cwd=True)
    assert store.ready(files).cwd == source
    gone = replace(files, bot=replace(files.bot, cwd=source / "none"))
    with pytest.raises(EnvironmentLacksError, match=r"bot `a`: the folder to run it in, `.*/none`, does"):
        store.ready(gone)


def age(store: FileStore) -> None:
    """Makes everything in a store look as if it was not used for long."""
    long_ago = time.time() - (KEPT_DAYS + 1) * 86_400
    for path in store.folder.rglob("*"):
        os.utime(path, (long_ago, long_ago), follow_symlinks=False)


def test_what_was_not_used_for_long_is_removed_unless_it_is_in_use(opened: Open, source: Path) -> None:
    store, files = opened(), files_of(source)
    send(store, source, files)
    folder = store.ready(files).cwd
    opened()
    assert folder.is_dir() and store.lacking([files]) == []
    age(store)
    opened()
    assert folder.is_dir()
    store.close()
    other = opened()
    assert not folder.parent.exists() and other.lacking([files]) == [files.digest]


def test_a_store_belongs_to_its_user(tmp_path: Path, opened: Open) -> None:
    before = os.umask(0o077)
    try:
        store = opened()
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (store.folder, *store.folder.iterdir())}
    assert modes == {"store": 0o711, "bots": 0o711, "lock": 0o600}
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentLacksError, match="is not a folder owned by this user"):
        FileStore(tmp_path / "file")
    with pytest.raises(EnvironmentLacksError, match=r"cannot write a store of files in `.*/below`: "):
        FileStore(tmp_path / "file" / "below")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_store_of_another_user_is_refused(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    os.chown(tmp_path / "store", 65534, -1)
    with pytest.raises(
        EnvironmentLacksError, match="is not a folder owned by this user, expected a store that is"
    ):
        FileStore(tmp_path / "store")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_bot_of_another_user_may_read_its_files_and_not_write_them(store: FileStore, source: Path) -> None:
    files = files_of(source)
    send(store, source, files)
    files = replace(files, bot=replace(files.bot, user="nobody"))
    folder = store.ready(files).cwd
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert modes == {
        **dict.fromkeys(("files", "data", "run.sh"), 0o750),
        **dict.fromkeys(("bot.py", "x", "empty"), 0o640),
    }
    assert folder.stat().st_uid == 0 and folder.stat().st_gid == (folder / "run.sh").stat().st_gid != 0
    with pytest.raises(
        EnvironmentLacksError, match="bot `a`: there is no user `nobody-else` on this machine"
    ):
        store.ready(replace(files, bot=replace(files.bot, user="nobody-else")))


def test_bots_are_kept_from_the_files_of_others_in_the_store(
    store: FileStore, source: Path, tmp_path: Path
) -> None:
    files = files_of(source)
    send(store, source, files)
    rivals = tmp_path.resolve() / "rival"
    rivals.mkdir()
    (rivals / "rival.py").write_text("rival")
    (source / "rival.py").write_text("beside")
    both = sent_files([files.bot, Program("b", ("{python}", "../rival/rival.py"), source)], {}, ())
    for digest in store.lacking(both.bots):
        for part in both.parts(digest):
            store.add(digest, *part)
    localised = [replace(store.ready(one), isolation="landlock") for one in both.bots]
    mine, rival = with_hidden(localised, ())
    for bot, other in ((mine, rival), (rival, mine)):
        found = needs.find(bot.argv, bot.cwd, bot.environment(), bot.read).readable
        within = [path for path in found if path.is_relative_to(store.folder)]
        own = next(folder for folder in (bot.cwd, *bot.cwd.parents) if folder.name == "files")
        assert within and all(path.is_relative_to(own) for path in within)
        assert not any(store.folder.is_relative_to(path) for path in found)
        assert not other.cwd.is_relative_to(own)


def test_where_a_store_lies(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert default_store() == Path("/x/referee")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_store() == Path("/var/cache/referee")
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_store() == tmp_path / ".cache" / "referee"
    monkeypatch.setenv("HOME", str(tmp_path / "none"))
    monkeypatch.setattr("referee.cluster.store.gettempdir", lambda: "/t")
    assert default_store() == Path("/t/referee-1234")
