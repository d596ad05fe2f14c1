"""Bots are started by wardens: whole trees end, also where the referee is killed, and limits hold."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from referee.core.errors import EnvironmentLacksError
from referee.gameplay.events import Retired
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes import cpu, launcher
from referee.processes.launcher import IDLE_WARDENS, Launcher
from referee.processes.levels import reason
from referee.processes.limits import Limits
from referee.processes.messages import LOST_WARDEN, NEW_WARDEN
from referee.processes.process import BotProcess, ExitReport, end_processes
from referee.processes.program import Program
from referee.processes.tree import children as children_of
from referee.tournament.workers.encounter import play_encounter
from tests.command import PARENT, ROOT, THIS_PYTHON
from tests.holdings import children, living
from tests.programs import needs
from tests.waiting import TOO_LONG_S, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what a warden needs")

SHELL_BOT = "echo hello 1; while read word rest; do case $word in prepare) echo ready;; ask) {};; esac; done"


def started(script: str, limits: Limits | None = None, *arguments: str) -> BotProcess:
    """A shell that runs a script. What it starts can be told from all else by its arguments."""
    return BotProcess(
        Program("sh", ("sh", "-c", script, "sh", *arguments), Path("/"), limits=limits or Limits())
    )


def ended(process: BotProcess, grace_s: float = 0.5) -> ExitReport:
    end_processes([process], grace_s)
    assert process.exit_report
    return process.exit_report


def spoken(process: BotProcess) -> bytes:
    """What it says before it exits."""
    wait_for(process)
    said = b""
    while data := process.read():
        said += data
    return said


def heard(process: BotProcess) -> bytes:
    """What it says next; empty at the end of its stdout."""
    (data,) = eventually(lambda: [data for data in [process.read()] if data is not None])
    return data


def wait_for(process: BotProcess) -> str:
    """How it ends."""
    return eventually(process.exit_status) or ""


def wait_until_sleeping(*words: str) -> None:
    """Waits until `sleep` runs with each of these arguments: before, a shell has them on its command line."""
    eventually(lambda: all(f"sleep {word}" in living(word) for word in words))


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


def wait_until_dead(launcher: int) -> None:
    """Waits until a launcher has ended, and leaves it to be reaped."""
    eventually(lambda: os.waitid(os.P_PID, launcher, os.WEXITED | os.WNOHANG | os.WNOWAIT))


def mark(name: str | int) -> str:
    """An argument of `sleep` that tells our helpers from those of other tests on this machine. It is longer
    than any test waits: what has ended was ended by something else.
    """
    return f"61000.{os.getpid():07}{name}"


HELPERS = "sleep {0}1 & setsid sleep {0}2 & (setsid sh -c 'sleep {0}3 & wait' &) & "
"""Three: one in the group, one in a session of its own, one whose parents are gone."""


@needs("setsid")
@pytest.mark.parametrize("level", ["none", pytest.param("bwrap", marks=pytest.mark.slow)])
def test_what_a_bot_leaves_behind_is_ended_and_named(level: str) -> None:
    if why := reason(level):
        pytest.skip(why)
    helpers = [mark(f"10{number}") for number in "123"]
    script = HELPERS.format(mark(10)) + "read go; exit 3"
    process = BotProcess(Program("sh", ("sh", "-c", script), ROOT, isolation=level))
    wait_until_sleeping(*helpers)
    if level == "bwrap":  # until the warden has found the bot
        eventually(lambda: Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T")
    process.write(b"go\n")
    wait_for(process)
    report = ended(process)
    assert report.status == "exited with status 3"
    assert sum(name.startswith("sleep (pid ") for name in report.orphans) == 3
    assert sum(name.startswith("sleep (pid ") for name in report.escaped) == 2
    assert not report.unkillable
    assert not any(map(living, helpers))


def test_a_bot_that_is_ended_has_left_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.processes.process.TERM_S", TOO_LONG_S)
    process = started(f"sleep {mark(111)} & wait")
    wait_until_sleeping(mark(111))
    report = ended(process, 0)
    assert report.status == "was ended by SIGTERM" and report.orphans == report.escaped == ()
    assert not living(mark(111))


def test_the_group_gets_sigterm_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bot is a child of the command that was named, as where a script starts it: it may clean up too."""
    monkeypatch.setattr("referee.processes.process.TERM_S", TOO_LONG_S)
    done = tmp_path / "done"
    inner = f"trap 'touch {done}; exit' TERM; echo ready; while :; do sleep 0.01; done"
    process = started(f'sh -c "{inner}" & trap "" TERM; echo ready; wait')
    said = b""
    while said.count(b"ready") < 2:
        said += heard(process)
    ended(process, 0)
    assert done.exists()


HOPPER = """
import os, sys
hops = 0
while True:
    hops += 1
    if hops == 100:
        open(sys.argv[1], "w").close()
    {}
    if os.fork():
        os._exit(0)
"""


@pytest.mark.slow
@pytest.mark.parametrize("hop", ["pass", "os.setsid()"])
def test_who_always_forks_ahead_is_caught(hop: str, tmp_path: Path) -> None:
    script = tmp_path / "hopper7121.py"
    script.write_text(HOPPER.format(hop))
    hopping = tmp_path / "hopping"
    process = started(f"{THIS_PYTHON} -I -S {script} {hopping} & exit")
    wait_for(process)
    eventually(hopping.exists)
    assert not ended(process).unkillable
    assert not living(str(script))


@needs("setsid")
def test_a_bot_that_kills_its_warden_hurts_itself_alone() -> None:
    other = started("cat")
    process = started(f"setsid sleep {mark(131)} & read go; kill -9 $PPID; sleep {mark(132)}")
    wait_until_sleeping(mark(131))
    process.write(b"go\n")  # only now, so that the warden has reported the start
    assert wait_for(process) == LOST_WARDEN
    eventually(lambda: not living(mark(131)) and not living(mark(132)))
    other.write(b"still here\n")
    assert heard(other) == b"still here\n"
    end_processes([process, other])


@needs("setsid")
@pytest.mark.usefixtures("no_launcher")
def test_what_a_killed_warden_leaves_is_ended_without_control_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are some, the kernel ends the whole group of the bot."""
    none = "from referee.processes import cgroups\ncgroups.parent_of_groups = lambda: None\n"
    monkeypatch.setattr(launcher, "_PROGRAM", launcher._PROGRAM.replace("\nmain(", f"\n{none}main("))
    process = started(f"cat /proc/self/cgroup; setsid sleep {mark(133)} & read go; kill -9 $PPID")
    wait_until_sleeping(mark(133))
    assert heard(process) == Path("/proc/self/cgroup").read_bytes()
    process.write(b"go\n")
    wait_for(process)
    end_processes([process])
    Launcher.close()
    assert not living(mark(133))


@pytest.mark.slow
def test_a_bot_that_kills_its_warden_at_once_is_the_one_that_did_not_start() -> None:
    """Before its start was reported: a lack of the machine would stop the run."""

    def refusal() -> str | None:
        try:
            process = started("kill -9 $PPID")
        except OSError as error:
            return error.strerror
        end_processes([process])
        return None  # the report was faster

    assert eventually(refusal) == LOST_WARDEN


def test_a_request_is_sent_once_even_if_the_bot_kills_its_warden_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else another warden would start the bot again, and nobody would learn what it did."""
    send, starts = socket.send_fds, tmp_path / "starts"

    def send_slowly(control: socket.socket, data: list[bytes], descriptors: list[int]) -> int:
        sent = send(control, data, descriptors)
        if data != [NEW_WARDEN]:
            eventually(lambda: has_hung_up(control))
        return sent

    monkeypatch.setattr(socket, "send_fds", send_slowly)
    with contextlib.suppress(OSError):  # where its start was not reported before
        end_processes([started(f"echo once >>{starts}; kill -9 $PPID")])
    assert starts.read_text() == "once\n"


def has_hung_up(control: socket.socket) -> bool:
    try:
        control.send(b"")
    except OSError:
        return True
    return False


def test_a_bot_that_kills_all_that_watch_over_it_dies_of_it() -> None:
    process = started(
        f"{PARENT}read go; above=$(parent $PPID) && kill -9 $above $PPID && exec sleep {mark(161)}"
    )
    process.write(b"go\n")
    assert wait_for(process) == LOST_WARDEN
    eventually(lambda: not living(mark(161)))
    end_processes([process])


@pytest.mark.usefixtures("no_launcher")
def test_a_bot_that_kills_the_launcher_leaves_the_next_one_alive() -> None:
    before = children()
    process = started(f"{PARENT}read go; kill -9 $(parent $PPID)")
    (launcher,) = children() - before
    process.write(b"go\n")
    assert wait_for(process) == "exited with status 0"
    wait_until_dead(launcher)
    end_processes([process])  # its warden is free, but would have nobody above it
    next_one = started(f"{PARENT}parent $PPID")
    assert int(spoken(next_one)) in children()
    end_processes([next_one])


@pytest.mark.usefixtures("no_launcher")
def test_a_launcher_that_is_killed_at_the_last_moment_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    before = children()
    first = started("echo here")
    (killed,) = children() - before
    monkeypatch.setattr("referee.processes.launcher.subprocess.Popen.poll", lambda _: None)
    monkeypatch.setattr(launcher, "DEATH_S", TOO_LONG_S)
    os.kill(killed, signal.SIGKILL)
    second = started("echo here")
    monkeypatch.undo()
    assert spoken(second) == b"here\n"
    end_processes([first, second])


@needs("setsid")
def test_a_warden_serves_one_bot_after_the_other_and_reports_each_by_itself() -> None:
    program = "x = bytearray(50_000_000); [i * i for i in range(2_000_000)]"
    large = BotProcess(Program("python", (sys.executable, "-I", "-S", "-c", program), Path("/")))
    wait_for(large)
    first = ended(large)
    process = started(f"echo $PPID; setsid sleep {mark(171)} & read go; exit 3")
    warden = int(heard(process))
    wait_until_sleeping(mark(171))
    process.write(b"go\n")
    wait_for(process)
    second = ended(process)
    assert second.status == "exited with status 3" and len(second.escaped) == 1
    assert second.cpu_us < first.cpu_us and second.memory_bytes < 50_000_000
    process = started("echo $PPID")
    assert int(spoken(process)) == warden
    assert ended(process).escaped == ()
    assert process.clock is None or process.clock.all_ns() < first.cpu_us * 500


def test_a_warden_that_was_killed_while_it_was_free_is_not_waited_for() -> None:
    process = started("echo $PPID")
    warden = int(spoken(process))
    ended(process)
    os.kill(warden, signal.SIGKILL)
    eventually(lambda: gone(warden))
    process = started("echo here")
    assert spoken(process) == b"here\n"
    ended(process)


@pytest.mark.usefixtures("no_launcher")
def test_no_more_wardens_are_kept_than_an_encounter_needs() -> None:
    before = children()
    processes = [started("exit") for _ in range(IDLE_WARDENS + 2)]
    (launcher,) = children() - before
    end_processes(processes)
    eventually(lambda: len(children_of(launcher)) <= IDLE_WARDENS)
    assert len(children_of(launcher)) == IDLE_WARDENS


@needs("grep")
def test_what_a_bot_starts_with() -> None:
    """No signal is ignored or blocked, no descriptor is open beside the three, no core file is written."""
    process = started("grep -E '^(SigBlk|SigIgn):' /proc/self/status; ulimit -c; ls /proc/$$/fd")
    _, blocked, _, ignored, *others = spoken(process).split()
    of_the_c_library = 0b11 << 31  # 32 and 33, which posix_spawn(3) ignores, and with it Python 3.13
    assert int(blocked, 16) == 0 == int(ignored, 16) & ~of_the_c_library
    assert others == [b"0", b"0", b"1", b"2"]
    ended(process)


def test_an_exit_report_says_how_much_a_bot_computed_and_took() -> None:
    program = "x = bytearray(50_000_000); [i * i for i in range(2_000_000)]"
    process = BotProcess(Program("python", (sys.executable, "-I", "-S", "-c", program), Path("/")))
    wait_for(process)
    report = ended(process)
    assert report.cpu_us > 20_000 and report.memory_bytes > 50_000_000


# --- Limits --------------------------------------------------------------------------------------------


def excess(process: BotProcess) -> str:
    wait_for(process)
    end_processes([process])
    return process.excess


@needs("setsid")
def test_no_more_processes_than_allowed() -> None:
    many = f"for i in 1 2 3 4 5 6 7 8 9; do setsid sleep {mark(141)} & done; wait"
    process = started(many, Limits(processes=5))
    assert excess(process).endswith(" processes and threads, expected at most 5")
    assert not living(mark(141))


@pytest.mark.slow
def test_no_more_memory_than_allowed_of_one_or_of_all() -> None:
    take = f"{THIS_PYTHON} -I -S -c 'import time; x = bytearray({{}} << 20); time.sleep(60)'"
    process = started(take.format(300), Limits(memory=200 << 20))
    assert wait_for(process) == "exited with status 1"
    process.drain_stderr()
    assert "MemoryError" in process.take_stderr().text()
    end_processes([process])
    together = " & ".join([take.format(120)] * 3) + " & wait"
    assert excess(started(together, Limits(memory=300 << 20))).endswith("of memory, expected at most 300 MB")


@pytest.mark.slow
def test_no_more_computing_time_than_allowed() -> None:
    told = "more processor time than it may use"
    assert excess(started("while :; do :; done", Limits(cpu=1))) == told
    assert excess(started("sh -c 'while :; do :; done'; exit $?", Limits(cpu=1))) == told, "told by a shell"


@pytest.mark.skipif(not cpu.AVAILABLE, reason="needs the processor time of processes")
@pytest.mark.slow
def test_who_ignores_the_warning_before_the_limit_of_computing_time_is_told_of_the_limit() -> None:
    ignoring = "trap '' XCPU; while :; do :; done"
    process = started(ignoring, Limits(cpu=1))
    assert excess(process) == "more processor time than it may use"
    assert process.exit_status() == "was ended by SIGKILL"


def test_a_bot_that_is_killed_within_its_computing_time_has_exceeded_no_limit() -> None:
    for script in ("kill -9 $$", "exit 152"):
        process = started(script, Limits(cpu=1))
        wait_for(process)
        ended(process)
        assert process.excess == ""


def test_no_larger_files_and_no_more_of_them_than_allowed(tmp_path: Path) -> None:
    process = started(f"exec head -c 100000 /dev/zero >{tmp_path / 'f'}", Limits(file_size=4096))
    assert excess(process) == "a file of more bytes than it may have"
    assert (tmp_path / "f").stat().st_size == 4096
    process = started("ulimit -n", Limits(open_files=64))
    assert spoken(process) == b"64\n"
    ended(process)


def test_a_limit_that_is_exceeded_is_the_bot_s_fault() -> None:
    game = GAMES["blooms"]
    script = SHELL_BOT.format(f"for i in 1 2 3 4; do sleep {mark(151)} & done; wait")
    hog = Program("hog", ("sh", "-c", script), Path("/"), limits=Limits(processes=3))
    good = Program("good", (sys.executable, str(ROOT / "sample_bots" / "random_bot.py")), ROOT)
    terms = Terms("x", game, game.settle({}), ("good", "hog"), (game.clock,) * 2, b"")
    (record,) = play_encounter([hog, good], [terms])
    assert record.verdict.ending.word == "limit" and record.verdict.outcome.ranks == (1, 2)
    last = record.events[-1]
    assert isinstance(last, Retired) and last.detail.endswith("processes and threads, expected at most 3")


def test_a_bot_has_a_scratch_folder_of_its_own_that_is_removed() -> None:
    script = "stat -c '%a %n' $TMPDIR; echo $TMP $TEMP; mkdir -p $TMPDIR/a/b; echo x >$TMPDIR/a/b/c; "
    process = started(script + "chmod 000 $TMPDIR/a/b $TMPDIR/a; ln -s /etc $TMPDIR/link; chmod 000 $TMPDIR")
    mode, *folders = spoken(process).decode().split()
    assert mode == "700" and len(folders) == 3 and len(set(folders)) == 1
    ended(process)
    assert not Path(folders[0]).exists() and Path("/etc/passwd").exists()


@pytest.mark.parametrize("killed", ["$PPID", "$above $PPID"])
def test_the_scratch_folder_of_a_bot_that_kills_its_warden_is_removed(killed: str) -> None:
    kills = f"above=$(parent $PPID) && kill -9 {killed} && sleep 60"
    process = started(f"{PARENT}read go; echo $TMPDIR; touch $TMPDIR/x; {kills}")
    process.write(b"go\n")  # only now, so that the warden has reported the start
    folder = Path(spoken(process).decode().strip())
    assert process.exit_status() == "was ended when the process that watches over it was killed"
    end_processes([process])
    Launcher.close()
    assert not folder.exists()


@pytest.mark.usefixtures("no_launcher")
def test_a_killed_launcher_takes_nothing_from_bots_that_play_on() -> None:
    before = children()
    other = started("while read line; do ls -d $TMPDIR; done")
    process = started(f"{PARENT}read go; kill -9 $(parent $PPID)")
    (launcher,) = children() - before
    process.write(b"go\n")
    assert wait_for(process) == "exited with status 0"
    wait_until_dead(launcher)
    next_one = started("true")  # by another launcher
    other.write(b"still there?\n")
    folder = Path(heard(other).decode().strip())
    assert folder.name.startswith("referee-") and folder.is_dir()
    end_processes([process, other, next_one])
    Launcher.close()
    assert not folder.exists()


def test_no_more_in_the_scratch_folder_than_allowed() -> None:
    process = started("head -c 3000000 /dev/zero >$TMPDIR/x; sleep 60", Limits(scratch=2 << 20))
    told = excess(process)  # perhaps while it still writes
    assert re.fullmatch(r"2\.\d MB in its scratch folder, expected at most 2\.0 MB", told), told
    many = "cd $TMPDIR; for i in 1 2 3 4 5 6; do mkdir $i; touch $i/x; done; sleep 60"
    process = started(many, Limits(scratch_files=10))
    assert excess(process) == "more than 10 files and folders in its scratch folder"


@pytest.mark.slow
def test_folders_that_are_too_deep_to_be_counted_are_said_to_be() -> None:
    chain = "cd $TMPDIR; for i in $(seq 200); do mkdir x; cd x; done; sleep 60"
    told = excess(started(chain, Limits(scratch_files=None)))
    assert told == "folders nested more than 100 deep in its scratch folder"


# --- The end of the referee ----------------------------------------------------------------------------


@needs("setsid")
@pytest.mark.slow
@pytest.mark.parametrize("workers", [pytest.param("0", marks=pytest.mark.slow), "2"])
def test_when_the_referee_is_killed_nothing_of_its_bots_lives_on(workers: str, tmp_path: Path) -> None:
    helpers = HELPERS.format(mark(f"2{workers}"))
    bots = "".join(
        f"""
[[bot]]
name = "{name}"
cmd = ["sh", "-c", '''{helpers} {SHELL_BOT.format("sleep 6000")}''']
"""
        for name in "abcd"
    )
    file = tmp_path / "t.toml"
    file.write_text(f'[tournament]\ngame = "blooms"\nworkers = {workers}\nclock = "6000s"\n{bots}')
    referee = subprocess.Popen(
        [sys.executable, "-m", "referee", "run", str(file)], stderr=subprocess.DEVNULL, cwd=ROOT
    )
    words = [mark(f"2{workers}{number}") for number in "123"]
    at_least = 4 if workers == "2" else 2
    eventually(lambda: all(len(living(word)) >= at_least for word in words))
    os.kill(referee.pid, signal.SIGKILL)
    referee.wait()
    eventually(lambda: not any(map(living, words)))


def test_the_launcher_ends_when_it_is_not_needed() -> None:
    Launcher.close()
    before = children()
    end_processes([started("exit")])
    assert len(children() - before) == 1
    Launcher.close()
    assert children() == before


@needs("setsid")
@pytest.mark.slow
def test_many_orphans_of_a_killed_warden_are_ended_too() -> None:
    many = f"i=0; while [ $i -lt 300 ]; do setsid sleep {mark(301)} & i=$((i+1)); done"
    process = started(f"{many}; read go; kill -9 $PPID")
    process.write(b"go\n")
    wait_for(process)
    eventually(lambda: not living(mark(301)))
    end_processes([process])
    next_one = started("echo here")
    assert spoken(next_one) == b"here\n"
    end_processes([next_one])


@pytest.mark.slow
def test_a_bot_that_stops_its_warden_again_and_again_is_ended() -> None:
    script = "import os, signal\nsignal.signal(15, 1)\nprint('here', flush=True)\n"
    script += "while True: os.kill(os.getppid(), signal.SIGSTOP)"
    process = BotProcess(Program("stopper", (sys.executable, "-I", "-S", "-c", script), Path("/")))
    assert heard(process) == b"here\n"
    pid = process.pid
    ended(process, 0)
    Launcher.close()
    eventually(lambda: gone(pid))


def test_a_launcher_that_does_not_live_is_noticed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.processes.launcher.socket.send_fds", lambda *_: 1 << 20)
    with pytest.raises(EnvironmentLacksError, match="is not running"):
        started("true")


@pytest.mark.slow
def test_threads_and_shared_memory_count_too() -> None:
    threads = "import threading as t\nfor i in range(30): t.Thread(target=t.Event().wait).start()"
    bot = Program(
        "threads", (sys.executable, "-I", "-S", "-c", threads), Path("/"), limits=Limits(processes=20)
    )
    assert excess(BotProcess(bot)).endswith("processes and threads, expected at most 20")
    shared = "import mmap, time\nm = mmap.mmap(-1, 200 << 20)\n"
    shared += "for i in range(200): m.write(bytes(1 << 20))\ntime.sleep(60)"
    limits = Limits(memory=150 << 20)
    bot = Program("shared", (sys.executable, "-I", "-S", "-c", shared), Path("/"), limits=limits)
    assert excess(BotProcess(bot)).endswith("of memory, expected at most 150 MB")


FILE_IN_MEMORY = """
import os, time
name = "/dev/shm/referee-test-{pid}"
file = os.memfd_create("hidden") if {memfd} else os.open(name, os.O_CREAT | os.O_RDWR)
{memfd} or os.unlink(name)
for _ in range(200): os.write(file, bytes(1 << 20))
time.sleep(60)
"""


@pytest.mark.slow
@pytest.mark.parametrize("memfd", [True, False])
def test_files_in_memory_that_nobody_has_mapped_count_too(memfd: bool) -> None:
    script = FILE_IN_MEMORY.format(memfd=memfd, pid=os.getpid())
    limits = Limits(memory=150 << 20)
    bot = Program("hider", (sys.executable, "-I", "-S", "-c", script), Path("/"), limits=limits)
    assert excess(BotProcess(bot)).endswith("of memory, expected at most 150 MB")


@pytest.mark.slow
def test_memory_that_forked_processes_share_counts_once() -> None:
    """As of a bot that fills its table and starts helpers: five processes have the same 100 MB."""
    script = "import os, time; x = b'x' * (100 << 20); [os.fork() or time.sleep(60) for _ in range(4)]"
    script += "; time.sleep(0.5); print('well', flush=True); time.sleep(60)"
    limits = Limits(memory=250 << 20)
    process = BotProcess(
        Program("forks", (sys.executable, "-I", "-S", "-c", script), Path("/"), limits=limits)
    )
    assert heard(process) == b"well\n"
    assert not excess_so_far(process)
    ended(process, 0)


def excess_so_far(process: BotProcess) -> str:
    process.listen()
    return process.excess


def test_who_writes_to_a_warden_s_socket_ends_its_own_bot_alone() -> None:
    process = started("sleep 60")
    process._notices = b"no notice\n"
    process.listen()
    assert process.exit_status() == LOST_WARDEN
    end_processes([process])


@needs("setsid")
def test_limits_hold_when_the_bot_s_own_process_has_ended(tmp_path: Path) -> None:
    go = tmp_path / "go"
    many = f"for i in 1 2 3 4 5 6 7 8 9; do setsid sleep {mark(311)} & done"
    process = started(
        f"(while [ ! -e {go} ]; do sleep 0.01; done; {many}; wait) & exit 0", Limits(processes=5)
    )
    assert wait_for(process) == "exited with status 0"
    go.touch()
    assert eventually(lambda: excess_so_far(process)).endswith("expected at most 5")
    end_processes([process])
