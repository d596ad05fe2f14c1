"""Which files of a bot are sent to other machines, and what of them stands in the header of a run."""

from __future__ import annotations

import hashlib
import os
import pickle
from collections.abc import Iterable
from pathlib import Path

import pytest

from referee.cluster import bot_files
from referee.cluster.bot_files import BotFiles, SentFiles, sent_files
from referee.core.errors import UsageError
from referee.processes import needs
from referee.processes.program import Program
from referee.records.header import ALL_FILES
from referee.tournament.file import file_list
from referee.tournament.file.file_list import ListedFiles, Programs
from referee.tournament.plan import BotOrigin

ELF = "\x7fELF…"


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """The folder of a tournament file."""
    return tmp_path.resolve()


def write(folder: Path, *names: str, text: str = "") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text or name)


def bot(base: Path, command: str, **settings: object) -> Program:
    return Program("a", tuple(command.split()), base, **settings)  # type: ignore[arg-type]


def sent(one: Program, origin: BotOrigin | None = None, private: Iterable[Path] = ()) -> BotFiles:
    found = sent_files([one], {one.name: origin or BotOrigin()}, tuple(private))
    for unfit in found.unfit:
        raise UsageError(unfit.error)
    (files,) = found.bots
    return files


def paths(files: BotFiles) -> set[str]:
    return {file.path for file in files.files}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def test_the_folders_of_the_files_that_the_command_names_are_sent(base: Path) -> None:
    write(base, "bots/a/bot.py", "bots/a/lib/help.py", "nets/x.bin", "nets/y.bin", "other/z.py")
    (base / "bots/a/run.sh").write_text("x")
    (base / "bots/a/run.sh").chmod(0o755)
    files = sent(bot(base / "bots", "{python} a/bot.py --net=../nets/x.bin"))
    assert paths(files) == {
        "bots/a/bot.py",
        "bots/a/lib/help.py",
        "bots/a/run.sh",
        "nets/x.bin",
        "nets/y.bin",
    }
    assert files.cwd == "bots"
    known = {file.path: file for file in files.files}
    assert known["nets/x.bin"] == ("nets/x.bin", sha256("nets/x.bin"), 10, False)
    assert known["bots/a/run.sh"].executable
    assert pickle.loads(pickle.dumps(files)) == files


def test_a_folder_that_is_named_is_sent_alone(base: Path) -> None:
    write(base, "classes/JavaBot.class", "secret")
    assert paths(sent(bot(base, "java -cp classes JavaBot"))) == {"classes/JavaBot.class"}


def test_its_own_folder_is_sent_where_it_is_given_or_nothing_is_named(base: Path) -> None:
    write(base, "bots/bot.py", "bots/data/x", "engine/e.py")
    one = bot(base / "bots", "{python} ../engine/e.py")
    assert paths(sent(one)) == {"engine/e.py"}
    assert paths(sent(one, BotOrigin(has_cwd=True))) == {"bots/bot.py", "bots/data/x", "engine/e.py"}
    assert paths(sent(bot(base / "bots", "python3 -m bot"))) == {"bot.py", "data/x"}


def test_what_tools_made_what_is_private_and_programs_of_others_are_left_out(base: Path) -> None:
    kept = ("a.py", "help.py", "deep/data", "game/moves.jsonl")
    left_out = (
        *(".git/x", "__pycache__/y", "env/pyvenv.cfg", "env/bin/python", "run/games.jsonl", "run/lock"),
        *("target/CACHEDIR.TAG", "target/o", "t.toml", "t-results/lock", "b.py", "deep/b.py"),
    )
    write(base, *kept, *left_out)
    bots = [bot(base, "{python} a.py"), Program("b", ("{python}", "b.py", "deep/b.py"), base)]
    private = (base / "t.toml", base / "t-results")
    first, second = sent_files(bots, {}, private).bots
    assert paths(first) == {*kept}
    assert paths(second) >= {"b.py", "deep/b.py", "help.py"} and "a.py" not in paths(second)
    listed = paths(sent(bots[0], BotOrigin(files=("[abt]*",)), private))
    assert listed >= {"a.py", "b.py"} and listed.isdisjoint({"t.toml", "t-results/lock"})
    (base / "link").symlink_to("t.toml")
    with pytest.raises(UsageError, match="is a link to a place outside the bot's files"):
        sent(bots[0], BotOrigin(files=("link",)), private)


def test_machine_code_is_left_out_where_a_build_makes_it(base: Path) -> None:
    write(base, "bot.c", "data.bin")
    write(base, "bot", "bot.o", text=ELF)
    one = bot(base, "./bot")
    assert paths(sent(one, BotOrigin(has_cwd=True))) == {"bot", "bot.c", "bot.o", "data.bin"}
    built = sent(one, BotOrigin(has_cwd=True, build=("cc", "bot.c")))
    assert paths(built) == {"bot.c", "data.bin"}


def test_listed_files_folders_and_patterns(base: Path) -> None:
    write(base, "bot.py", "data/x", "data/deep/y", "nets/a.bin", "nets/b.txt", "other", "[1].txt")
    one = bot(base, "{python} bot.py")
    files = sent(one, BotOrigin(files=("data/", "nets/*.bin", "[1].txt")))
    assert paths(files) == {"bot.py", "data/x", "data/deep/y", "nets/a.bin", "[1].txt"}
    assert paths(sent(one, BotOrigin(files=()))) == {"bot.py"}, "what its command names is always sent"
    for missing in ("nats/*.bin", "none", "data/none/"):
        with pytest.raises(UsageError, match="there is no such file or folder in") as failed:
            sent(one, BotOrigin(files=("data", missing)))
        assert f"bot `a`: its `files` have `{missing}`" in str(failed.value)


def test_links_count_only_where_they_lead_into_the_bots_own_folders(base: Path) -> None:
    write(base, "bot/a.py", "bot/v2/net", "secret/key")
    for name, to in (("net", "v2/net"), ("key", "../secret/key"), ("all", "../secret"), ("none", "x")):
        (base / "bot" / name).symlink_to(to)
    os.mkfifo(base / "bot" / "pipe")
    one = bot(base / "bot", "{python} a.py")
    files = sent(one)
    assert paths(files) == {"a.py", "v2/net", "net"}
    assert {file.sha256 for file in files.files if file.path == "net"} == {sha256("bot/v2/net")}
    assert paths(sent(bot(base / "bot", "{python} a.py key all"))) == {"a.py", "v2/net", "net"}
    assert paths(sent(one, BotOrigin(files=("all/", "ne*")))) == {"a.py", "net"}
    with pytest.raises(UsageError, match="`files` is a link to a place outside the bot's files"):
        sent(one, BotOrigin(files=("key",)))


def test_a_home_folder_is_never_sent(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(base))
    write(base, "bot.py", ".ssh/id", "sub/x.py")
    assert paths(sent(bot(base, "{python} bot.py"), BotOrigin(has_cwd=True))) == {"bot.py"}
    assert paths(sent(bot(base, "python3 -m bot"))) == set()


def test_there_are_bounds_and_the_message_says_what_is_large(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(base, "bot.py", "small/a", *(f"many/{number}" for number in range(9)), "large/x")
    one, origin = bot(base, "{python} bot.py"), BotOrigin(files=("bot.py",))
    monkeypatch.setattr(file_list, "MAX_FILES", 10)
    with pytest.raises(
        UsageError, match=r"bot `a` has more than 10 files; the largest part is `.*/many` with 9 files"
    ):
        sent(one)
    monkeypatch.setattr(file_list, "MAX_FILES", 10_000)
    with (base / "large/x").open("wb") as file:
        file.truncate(2 << 30)
    with pytest.raises(
        UsageError, match=r"bot `a` has 2\.\d GB, expected .*`.*/large` with 2\.\d GB: list what it needs"
    ):
        sent(one)
    assert paths(sent(one, origin)) == {"bot.py"}


def test_a_program_that_is_not_sent_is_refused_where_no_build_makes_it(base: Path) -> None:
    write(base, "env/pyvenv.cfg", "env/bin/run", "bot.py")
    one = bot(base, "env/bin/../none bot.py")
    with pytest.raises(UsageError, match=r"bot `a`: no program at `env/bin/\.\./none`"):
        sent(one)
    (base / "env/none").symlink_to("/bin/true")  # which is no file of the bot
    with pytest.raises(UsageError, match=r"its program `env/bin/\.\./none` is not among the files"):
        sent(one)
    assert paths(sent(one, BotOrigin(build=("make",)))) == {"bot.py"}


def test_absolute_paths_that_name_what_is_sent(base: Path) -> None:
    write(base, "bot/a.py", "nets/x", "else/y")
    one = bot(
        base / "bot",
        f"{{python}} {base}/bot/a.py --net={base}/nets/x /usr/bin/env {base}/none",
        env=(("DATA", f"{base}/bot:{base}/else"), ("TOP", str(base))),
        read=(base / "nets",),
    )
    assert dict(sent(one).places) == {
        f"{base}/bot/a.py": "bot/a.py",
        f"{base}/nets/x": "nets/x",
        f"{base}/bot": "bot",
        f"{base}/nets": "nets",
    }


def test_what_the_header_has_of_a_bot(base: Path) -> None:
    write(base, "one/bot.py", "more/bot.py", "more/data")
    plain = bot(base / "one", "{python} bot.py")
    hashes = {"bot.py": sha256("one/bot.py")}
    assert sent(plain).hashes == hashes == Programs().changes([plain])["a"]
    more = sent(bot(base / "more", "{python} bot.py"))
    assert more.hashes == {"bot.py": sha256("more/bot.py"), ALL_FILES: more.digest}
    built = sent(plain, BotOrigin(build=("true",)))
    assert built.hashes == {**hashes, ALL_FILES: built.digest}
    assert built.digest != sent(plain).digest


def test_a_changed_data_file_gives_another_digest(base: Path) -> None:
    write(base, "bot.py", "data")
    one = bot(base, "{python} bot.py")
    before = sent(one).digest
    assert sent(one).digest == before
    write(base, "data", text="other")
    assert (changed := sent(one).digest) != before
    (base / "data").chmod(0o755)
    assert sent(one).digest != changed


def test_listed_files_are_hashed_without_a_cluster_too(base: Path) -> None:
    write(base, "bot.py", "data/x", "t-results/lock")
    one, origin = bot(base, "{python} bot.py"), BotOrigin(files=("data",))
    listed = ListedFiles({"a": origin}, (base / "t-results",))
    assert Programs(listed.of).changes([one]) == {"a": sent(one, origin).hashes}
    lacking = Programs(ListedFiles({"a": BotOrigin(files=("none",))}, ()).of).changes([one])
    assert lacking["a"][ALL_FILES] == ""


def test_a_listed_file_that_changes_is_noticed(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.tournament.file.file_list._SHARE", 1)
    write(base, "bot.py", "data/x")
    one = bot(base, "{python} bot.py")
    programs = Programs(ListedFiles({"a": BotOrigin(files=("data",))}, ()).of)
    first = programs.changes([one])["a"]
    assert programs.changes([one]) == {}
    write(base, "data/x", text="new")
    second = programs.changes([one])["a"]
    assert second[ALL_FILES] != first[ALL_FILES] and second["bot.py"] == first["bot.py"]
    (base / "data/x").unlink()
    (base / "data").rmdir()
    assert programs.changes([one])["a"][ALL_FILES] == ""


def test_a_shared_bot_sends_nothing(base: Path) -> None:
    write(base, "bot", "other")
    shared = BotOrigin(shared=True)
    files = sent(bot(base, f"{base}/bot"), shared)
    assert files.files == () and files.hashes == {f"{base}/bot": sha256("bot")} and files.cwd == "."
    assert sent(bot(base, "/opt/none/bot"), shared).hashes is None
    assert (
        Programs(SentFiles((sent(bot(base, "/opt/none"), shared),), {}).hashes_of).changes(
            [bot(base, "/opt/none")]
        )
        == {}
    )


def test_content_is_read_in_parts(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bot_files, "PART_BYTES", 4)
    write(base, "bot.py", text="1234567890")
    write(base, "empty")
    (base / "empty").write_text("")
    files = sent_files([bot(base, "{python} bot.py")], {}, ())
    digest = files.bots[0].digest
    assert [*files.parts(digest)] == [(0, b"1234"), (4, b"5678"), (8, b"90")]
    for changed in ("123456789x", "1234567890x", "12345"):
        (base / "bot.py").write_text(changed)
        with pytest.raises(UsageError, match="belongs to a bot and has changed since the run began"):
            [*files.parts(digest)]


def test_what_a_command_names_is_the_same_for_files_that_are_sent_and_for_isolation(base: Path) -> None:
    write(base, "a/bot.py", "nets/x")
    words = ("python3", "a/bot.py", "nets")
    named = [*needs.named(words, base, {})]
    assert [one.place for one in named] == needs.files(words, base, {}).named
    assert [one.folders for one in named] == [(base / "a", base / "a"), ()]
