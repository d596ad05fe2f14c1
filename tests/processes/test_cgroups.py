"""Control groups of bots: with what the machine has, and with files that look like one that has more."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.processes import cgroups, owned
from referee.processes.cgroups import LISTING, MOUNTS, Group, controllers, killed_for_memory, parent_of_groups
from referee.processes.limits import Limits
from referee.processes.process import BotProcess, end_processes
from referee.processes.program import Program
from tests.holdings import living
from tests.waiting import eventually

HERE = parent_of_groups() if sys.platform == "linux" else None
real = pytest.mark.skipif(HERE is None, reason="no control groups of version 2 can be made here")


def python(script: str, limits: Limits | None = None) -> BotProcess:
    bot = Program("python", (sys.executable, "-I", "-S", "-c", script), Path("/"), limits=limits or Limits())
    return BotProcess(bot)


def said(process: BotProcess) -> str:
    return (eventually(process.read) or b"").decode()


# --- With what the machine has -------------------------------------------------------------------------


@real
def test_each_bot_has_a_group_which_is_removed_when_it_has_ended() -> None:
    script = "import time; print(open('/proc/self/cgroup').read(), flush=True); time.sleep(600)"
    bots = [python(script), python(script)]
    names = {
        row.rpartition("/")[2] for bot in bots for row in said(bot).splitlines() if row.startswith("0::")
    }
    assert len(names) == 2
    groups = [path for path in Path(HERE or "").iterdir() if path.name in names]
    assert len(groups) == 2
    end_processes(bots, 0)
    assert not [path for path in groups if path.exists()]


def check_fork(group: Group) -> None:
    """Forks into a group, which it then removes."""
    bot = group.fork()
    if bot == 0:
        signal.pause()
    eventually(lambda: Path(group.path, "cgroup.procs").read_text().split() == [str(bot)])
    group.kill()
    os.waitpid(bot, 0)
    group.remove()
    assert not Path(group.path).exists()


@real
@pytest.mark.parametrize("begins_there", [True, False])
def test_a_process_is_forked_into_a_group_also_where_it_cannot_begin_there(
    begins_there: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    forks: list[int] = []

    def fork(fork: Callable[[], int] = os.fork) -> int:
        forks.append(fork())
        return forks[-1]

    monkeypatch.setattr(os, "fork", fork)
    if not begins_there:
        monkeypatch.setattr("referee.processes.libc._CLONE", 10_000)  # no such call
    check_fork(Group(f"{HERE}/{owned.prefix('test')}", None, None))
    assert bool(forks) != begins_there


CHAINS = """
import os, time
for _ in range({}):
    if os.fork() == 0:
        while True:
            os.setsid()
            if os.fork():
                os._exit(0)
print("well", flush=True)
time.sleep(600)
"""


@pytest.mark.slow
@real
def test_many_chains_that_always_fork_ahead_are_ended_at_once(tmp_path: Path) -> None:
    mark = tmp_path / "chains6523.py"
    mark.write_text(CHAINS.format(30))
    process = BotProcess(Program("chains", (sys.executable, "-I", "-S", str(mark)), Path("/")))
    assert said(process) == "well\n"
    process.kill()
    assert not process.reap().unkillable
    eventually(lambda: not living(str(mark)))


@real
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can delegate a group")
def test_a_group_that_was_delegated_to_a_user_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """With any controller that this machine's hierarchy has, in place of those that are used."""
    available = Path(HERE or "", "cgroup.controllers").read_text().split()[:1]
    if not available:
        pytest.skip("the hierarchy has no controllers")
    wanted = (*available, "memory")
    monkeypatch.setattr(cgroups, "CONTROLLERS", wanted)
    if set(available) & set(Path(HERE or "", "cgroup.subtree_control").read_text().split()):
        pytest.skip("the only controllers are used already")
    parent_of_groups()  # as root: the parts of the root get the controllers
    delegated = Path(HERE or "", f"test-{os.getpid()}")
    delegated.mkdir()
    child = 0
    try:
        for name in (".", "cgroup.procs", "cgroup.subtree_control", "cgroup.threads"):
            os.chown(delegated / name, 65534, 65534)
        os.setxattr(delegated, "user.delegate", b"1")
        child = os.fork()
        if child == 0:
            code = 1
            try:
                (delegated / "cgroup.procs").write_text("0")
                os.setresuid(65534, 65534, 65534)
                first, second = parent_of_groups(), parent_of_groups()  # the second time from within the leaf
                assert first == second == str(delegated)
                assert controllers(first) == tuple(available)
                check_fork(Group(f"{first}/bot-", 1 << 20, 5))
                code = 0
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
    finally:
        cgroups.remove_all(f"{delegated}/")
        delegated.rmdir()
        Path(HERE or "", "cgroup.subtree_control").write_text(f"-{available[0]}")


# --- With files that look like a machine that has more -------------------------------------------------


def hierarchy(folder: Path, own: str) -> tuple[str, str]:
    """A root with both controllers. Returns the listing and the mounts of a process in the group `own`."""
    group = folder / "cgroup" / own
    group.mkdir(parents=True)
    for path in (folder / "cgroup", group):
        (path / "cgroup.procs").touch()
        (path / "cgroup.subtree_control").touch()
        (path / "cgroup.controllers").write_text("cpu memory pids\n")
    listing, mounts = folder / "listing", folder / "mounts"
    listing.write_text(f"4:memory:/\n0::/{own}\n")
    mounts.write_text(f"cgroup /elsewhere cgroup rw,pids 0 0\ncgroup2 {folder}/cgroup cgroup2 rw 0 0\n")
    return str(listing), str(mounts)


def test_root_makes_groups_at_the_top_and_a_user_in_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = hierarchy(tmp_path, "user/scope")
    monkeypatch.setattr("referee.processes.cgroups.os.geteuid", lambda: 0)
    assert parent_of_groups(*files) == f"{tmp_path}/cgroup"
    monkeypatch.setattr("referee.processes.cgroups.os.geteuid", lambda: 1000)
    assert parent_of_groups(*files) is None, "as long as it is not delegated"
    os.setxattr(tmp_path / "cgroup" / "user" / "scope", "user.delegate", b"1")
    assert parent_of_groups(*files) == f"{tmp_path}/cgroup/user/scope"
    (tmp_path / "listing").write_text("0::/user/scope/referee\n")
    assert parent_of_groups(*files) == f"{tmp_path}/cgroup/user/scope"
    (tmp_path / "cgroup" / "user" / "scope" / "cgroup.procs").unlink()
    assert parent_of_groups(*files) is None


@pytest.mark.parametrize("missing", [0, 1])
def test_where_there_is_no_hierarchy_there_are_no_groups(missing: int, tmp_path: Path) -> None:
    files = [LISTING, MOUNTS]
    files[missing] = str(tmp_path / "nothing")
    assert parent_of_groups(*files) is None


def test_the_limits_are_set_and_what_the_kernel_enforced_is_told(tmp_path: Path) -> None:
    group = Group(f"{tmp_path}/bot-", 1000, 5, around=2)
    path = Path(group.path)
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cgroup.kill"):
        (path / name).touch()
    group.kill()
    assert (path / "cgroup.kill").read_text() == "1"
    group.limit()
    assert [(path / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max")] == [
        "1000",
        "0",
        "7",
    ]
    assert group.excess() is None
    (path / "pids.events").write_text("max 0\n")
    (path / "memory.events").write_text("low 0\nhigh 0\nmax 7\noom 0\noom_kill 0\n")
    assert group.excess() is None
    (path / "pids.events").write_text("max 3\n")
    assert group.excess() == ("processes", 6, 5)
    (path / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 1\noom_kill 1\n")
    (path / "memory.peak").write_text("1002\n")
    assert group.excess() == ("memory", 1002, 1000)


@pytest.mark.parametrize(
    ("listing", "mount", "file"),
    [
        ("4:cpu,memory:/own", "cgroup {root} cgroup rw,relatime,cpu,memory 0 0", "memory.oom_control"),
        ("0::/own", "cgroup2 {root} cgroup2 rw,relatime 0 0", "memory.events"),
    ],
    ids=["version 1", "version 2"],
)
def test_processes_that_were_killed_in_other_groups_do_not_count(
    listing: str, mount: str, file: str, tmp_path: Path
) -> None:
    group = tmp_path / "groups" / "own"
    group.mkdir(parents=True)
    machine, listed, mounts = tmp_path / "vmstat", tmp_path / "listing", tmp_path / "mounts"
    machine.write_text("oom_kill 9\n")
    listed.write_text(f"3:pids:/other\n{listing}\n")
    mounts.write_text(f"proc /proc proc rw 0 0\n{mount.format(root=tmp_path / 'groups')}\n")
    given = str(listed), str(mounts), str(machine)
    assert killed_for_memory(*given) == 9  # the group does not tell
    (group / file).write_text("oom 3\noom_kill 2\n")
    assert killed_for_memory(*given) == 2
