"""An attacker in Python: `attacker.py ATTACK[,ATTACK ...] GAME`. See `__init__.py` of this folder."""

import contextlib
import ctypes
import fcntl
import hashlib
import json
import mmap
import os
import re
import resource
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable

SECRET = re.compile(rb"[A-Z]+-SECRET-[0-9a-f]{16}")
TGKILL, SHMGET = 234, 29
"""Numbers of system calls on x86-64."""
MAX_FORKS, MAX_MEMORY, MAX_DISK, MAX_FILES = 2000, 4 << 30, 2 << 30, 200_000
"""Bounds of the bombs themselves, so that a machine survives them if nothing else does."""
FORKS = 300
"""Fewer than a bot may have by default."""
BLOCK = bytes(range(256)) * 4096
held: list[object] = []
t: dict[str, str] = {}
libc = ctypes.CDLL(None, use_errno=True)


def report(text: str) -> None:
    os.write(2, f"ATTACK {text}\n".encode())


def report_secrets(data: bytes) -> None:
    for secret in sorted(set(SECRET.findall(data))):
        report(f"read {secret.decode()}")


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def system_call(number: int, *arguments: object) -> int:
    done = int(libc.syscall(number, *arguments))
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done


def read_memory(pid: str, most: int = 64 << 20) -> None:
    """Searches what a process may write to; its stack last, where its environment is."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        areas = [line.split() for line in maps if " rw-p " in line]
        for area in sorted(areas, key=lambda area: "[stack]" not in area):
            first, last = (int(part, 16) for part in area[0].split("-"))
            with contextlib.suppress(OSError):
                memory.seek(first)
                report_secrets(memory.read(min(last - first, most)))


def fill_pipes(pid: str) -> None:
    """Writes into all pipes and sockets of a process until they take no more."""
    filled = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        with contextlib.suppress(OSError):
            if "pipe:" in os.readlink(path):
                pipe = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        os.write(pipe, b"\0" * 512)
                filled += 1
                held.append(pipe)
    if not filled:
        raise OSError("no pipe")


def daemon(*killed: str) -> None:
    """Leaves a process in a session of its own behind, whose command line has the token."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for pid in killed:
                with contextlib.suppress(OSError):
                    os.kill(int(pid), signal.SIGKILL)
            nothing = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(nothing, number)
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(300)", t["TOKEN"]])
        os._exit(0)
    time.sleep(0.3)


def rewrite_results() -> None:
    """Turns the first game's result round and makes the chain anew."""
    path = f"{t['RESULTS']}/games.jsonl"
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    before = "0" * 64
    lines = []
    for row in rows:
        row.pop("hash", None)
        row.pop("prev", None)
        if "ranks" in row:
            row["ranks"].reverse()
        row["prev"] = before
        text = json.dumps(row, separators=(",", ":"))
        before = hashlib.sha256(text.encode()).hexdigest()
        lines.append(f'{text[:-1]},"hash":"{before}"}}\n')
    with open(path, "r+") as file:
        file.truncate(0)
        file.writelines(lines)


def write(path: str, text: str) -> None:
    """Into a file that is there, in place of what it holds, or a new one."""
    with open(path, "w") as file:
        file.write(text)


def append_to(path: str, text: str = "") -> None:
    with open(path, "a") as file:
        file.write(text or f"# {t['TOKEN']}\n")


def send(target: str, number: int) -> None:
    os.kill(int(t[target]), number)


def kill_all() -> None:
    """All that this process may kill: only as a user whom nothing else belongs to, without root's rights."""
    if str(os.getuid()) != t["THROW_AWAY"] or not re.search(
        r"CapEff:\s*0+\n", read("/proc/self/status").decode()
    ):
        raise PermissionError("not this user")
    os.kill(-1, signal.SIGKILL)


def read_questions() -> None:
    """Takes what is sent to the victim, for a while."""
    questions = os.open(f"/proc/{t['VICTIM']}/fd/0", os.O_RDONLY)
    if os.fork() == 0:
        signal.alarm(2)
        while data := os.read(questions, 4096):
            report(f"read {data!r}")
        os._exit(0)
    time.sleep(0.3)


def become_fifo() -> None:
    """Puts a FIFO in the place of its own program, and exits."""
    os.unlink("attacker.py")
    os.mkfifo("attacker.py")
    os._exit(0)


def replace_results() -> None:
    shutil.copy(f"{t['RESULTS']}/games.jsonl", f"{t['RESULTS']}/copy")
    os.rename(f"{t['RESULTS']}/copy", f"{t['RESULTS']}/games.jsonl")


def remove_lock() -> None:
    for name in os.listdir(t["RESULTS"]):
        if "lock" in name:
            os.unlink(f"{t['RESULTS']}/{name}")


def put_fifo_into_results() -> None:
    path = f"{t['RESULTS']}/dialogues.jsonl"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    os.mkfifo(path)


def read_results() -> None:
    for name in os.listdir(t["RESULTS"]):
        for seed in re.findall(rb'"seed":"([^"]{9,})"', read(f"{t['RESULTS']}/{name}").partition(b"\n")[0]):
            report(f"read {seed.decode()}")


def say_escapes() -> None:
    token = t["TOKEN"]
    os.write(2, f"ATTACK \33]0;{token}\7\33[31m\n".encode())
    os.write(1, f"info \33]0;{token}\7\nlog \33[2J{token}\nnoise \33]52;c;{token}\7\n".encode())


def limit(pid: str, what: int, value: int) -> None:
    resource.prlimit(int(pid), what, (value, value))


def system_v_memory() -> None:
    """Segments that stay when their process has gone."""
    for number in range(16):
        segment = system_call(SHMGET, int(t["KEY"]) + 1 + number, 64 << 20, 0o1600)
        libc.shmat.restype = ctypes.c_void_p
        address = libc.shmat(segment, None, 0)
        if address in (None, ctypes.c_void_p(-1).value):
            raise OSError(ctypes.get_errno(), "shmat")
        ctypes.memset(address, 1, 64 << 20)
        libc.shmdt(ctypes.c_void_p(address))
        report(f"held {(number + 1) << 26}")


def system_v_channel() -> None:
    """A segment that others can find by its key."""
    libc.shmat.restype = ctypes.c_void_p
    segment = system_call(SHMGET, int(t["KEY"]), 4096, 0o1600)
    address = libc.shmat(segment, None, 0)
    if address in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")
    ctypes.memmove(address, t["TOKEN"].encode(), len(t["TOKEN"]))


def system_v_message() -> None:
    queue = libc.msgget(int(t["KEY"]), 0o1600)
    message = struct.pack("l", 1) + t["TOKEN"].encode()
    if queue < 0 or libc.msgsnd(queue, message, len(t["TOKEN"]), 0):
        raise OSError(ctypes.get_errno(), "message")


def connect(family: int, kind: int, address: str | tuple[str, int]) -> None:
    one = socket.socket(family, kind)
    held.append(one)  # a connection that is closed is not accepted by everybody
    one.connect(address)
    one.sendall(t["TOKEN"].encode())


def listen() -> None:
    with socket.create_server(("127.0.0.1", int(t["FREE_PORT"]))) as server:
        server.settimeout(1)
        server.accept()[0].sendall(t["TOKEN"].encode())


def lock() -> None:
    file = os.open("/usr/bin/env", os.O_RDONLY)
    held.append(file)
    for _ in range(50):  # who looks for locks holds one for a moment
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            time.sleep(0.5)  # until it was seen
            return
        time.sleep(0.01)
    raise OSError("it is locked")


# --- Bombs -------------------------------------------------------------------------------------------


def fork_bomb() -> None:
    for count in range(MAX_FORKS):
        try:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
        except OSError:
            report(f"held {count}")
            raise
    report(f"held {MAX_FORKS}")


def starve_of_processes() -> None:
    """Takes many of the processes that its user may have, and goes on with its game."""
    for _ in range(FORKS):
        try:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
        except OSError:
            return


def memory_bomb() -> None:
    for count in range(MAX_MEMORY >> 26):
        report(f"held {count << 26}")
        area = mmap.mmap(-1, 1 << 26)
        for _ in range(64):
            area.write(BLOCK)
        held.append(area)
    report(f"held {MAX_MEMORY}")


def write_much(file: int, most: int) -> None:
    held.append(file)
    for count in range(most >> 20):
        if count % 64 == 0:
            report(f"held {count << 20}")
        os.write(file, BLOCK)
    report(f"held {most}")


def create(path: str) -> int:
    held.append(path)
    return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)


def in_memory_file() -> None:
    write_much(os.memfd_create("attack"), MAX_MEMORY)


def in_shared_memory() -> None:
    write_much(create(f"/dev/shm/{t['TOKEN']}"), MAX_MEMORY)


def scratch() -> str:
    return os.environ.get("TMPDIR") or os.environ.get("HOME") or "."


def fill_disk() -> None:
    """Several files, so that a limit for each does not help."""
    for number in range(8):
        write_much(create(f"{scratch()}/{t['TOKEN']}-{number}"), MAX_DISK // 8)
    report(f"held {MAX_DISK}")


def fill_inodes() -> None:
    folder = f"{scratch()}/{t['TOKEN']}"
    os.mkdir(folder)
    for count in range(MAX_FILES):
        if count % 1000 == 0:
            report(f"held {count}")
        os.close(os.open(f"{folder}/{count}", os.O_CREAT | os.O_WRONLY, 0o600))
    report(f"held {MAX_FILES}")


def deep_folders() -> None:
    """More than anybody looks through by path, and then some time in which it should be noticed."""
    here = os.open(scratch(), os.O_RDONLY)
    for number in range(30_000):
        os.mkdir(t["TOKEN"], dir_fd=here)
        below = os.open(t["TOKEN"], os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
        if number % 1000 == 0:
            report(f"held {number}")
    time.sleep(10)


def hidden_memory() -> None:
    """A file in memory of a process whose descriptors nobody else of its user can see."""
    if libc.prctl(4, 0, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    write_much(os.memfd_create("attack"), MAX_MEMORY // 4)
    time.sleep(3)


def sent_memory() -> None:
    """Files in memory whose only descriptors are on their way through a socket."""
    one, other = socket.socketpair()
    for _ in range(16):
        file = os.memfd_create("attack")
        write_much(file, MAX_MEMORY // 64)
        socket.send_fds(one, [b"x"], [file])
        os.close(file)
    time.sleep(3)
    other.close()


def connections() -> None:
    if f":{int(t['PORT']):04X}" not in read("/proc/net/tcp").decode():
        raise OSError("other connections")


def make_and_remove(path: str) -> None:
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    os.unlink(path)


def same_times(path: str) -> None:
    found = os.stat(path)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def sixty_busy() -> None:
    for count in range(60):
        if os.fork() == 0:
            ends = time.monotonic() + 20
            while time.monotonic() < ends:
                pass
            os._exit(0)
        report(f"held {count + 1}")


def opened(path: str, flags: int) -> None:
    """Opened, and nothing else."""
    os.close(os.open(path, flags))


def real_time() -> None:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def lower_own_oom_score() -> None:
    with open("/proc/self/oom_score_adj", "r+") as file:
        before = int(file.read())
        file.seek(0)
        file.write(str(before - 1 if os.geteuid() else -1000))


def open_any(folder: str, flags: int) -> None:
    """The first block device, or whatever else can be opened there."""
    names = [
        entry.path for entry in os.scandir(folder) if re.fullmatch(r"(vd|sd|nvme|loop|xvd).*", entry.name)
    ]
    if not names:
        raise FileNotFoundError("no block device")
    opened(sorted(names)[-1], flags)


ATTACKS: dict[str, Callable[[], object]] = {
    "command-line": lambda: report_secrets(read(f"/proc/{t['VICTIM']}/cmdline")),
    "tournament-read": lambda: report_secrets(read(t["TOURNAMENT"])),
    "environment": lambda: report_secrets(read(f"/proc/{t['VICTIM']}/environ")),
    "own-environment": lambda: report_secrets(read("/proc/self/environ")),
    "questions-read": read_questions,
    "move-forged": lambda: write(f"/proc/{t['VICTIM']}/fd/1", "resign 2\n"),
    "quit-forged": lambda: write(f"/proc/{t['VICTIM']}/fd/0", "quit\n"),
    "kill": lambda: send("VICTIM", signal.SIGKILL),
    "kill-group": lambda: os.kill(-int(t["VICTIM"]), signal.SIGKILL),
    "kill-all": kill_all,
    "kill-worker": lambda: send("WORKER", signal.SIGKILL),
    "kill-launcher": lambda: send("LAUNCHER", signal.SIGKILL),
    "kill-warden": lambda: send("VICTIM_WARDEN", signal.SIGKILL),
    "kill-own-warden": lambda: send("WARDEN", signal.SIGKILL),
    "stop": lambda: send("VICTIM", signal.SIGSTOP),
    "stop-launcher": lambda: send("LAUNCHER", signal.SIGSTOP),
    "stop-worker": lambda: send("WORKER", signal.SIGSTOP),
    "stop-referee": lambda: send("REFEREE", signal.SIGSTOP),
    "stop-warden": lambda: send("VICTIM_WARDEN", signal.SIGSTOP),
    "interrupt-referee": lambda: send("REFEREE", signal.SIGINT),
    "oom-score": lambda: write(f"/proc/{t['VICTIM']}/oom_score_adj", "999"),
    "renice": lambda: os.setpriority(os.PRIO_PROCESS, int(t["VICTIM"]), 19),
    "source": lambda: report_secrets(read(t["VICTIM_SOURCE"])),
    "program-fifo": become_fifo,
    "results-read": read_results,
    "results-append": lambda: append_to(f"{t['RESULTS']}/games.jsonl", '{"kind":"game"}\n'),
    "results-empty": lambda: write(f"{t['RESULTS']}/games.jsonl", ""),
    "results-replace": replace_results,
    "results-remove": lambda: shutil.rmtree(t["RESULTS"]),
    "results-lock": remove_lock,
    "results-fifo": put_fifo_into_results,
    "tmp-file": lambda: write(f"/tmp/{t['TOKEN']}", t["TOKEN"]),
    "shared-memory-file": lambda: write(f"/dev/shm/{t['TOKEN']}", t["TOKEN"]),
    "own-folder": lambda: write(f"{t['ATTACKER_FOLDER']}/{t['TOKEN']}", t["TOKEN"]),
    "home-read": lambda: report_secrets(read(f"{t['HOME_OF_USER']}/.ssh/id_test")),
    "home-write": lambda: append_to(f"{t['HOME_OF_USER']}/.profile"),
    "terminal-escapes": say_escapes,
    "terminal-own": lambda: write("/dev/tty", f"\33]0;{t['TOKEN']}\7"),
    "terminal-path": lambda: write(t["TERMINAL"], f"\33]0;{t['TOKEN']}\7"),
    "sysv-memory": system_v_channel,
    "sysv-messages": system_v_message,
    "flock": lock,
    "tcp": lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", int(t["PORT"]))),
    "udp": lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", int(t["PORT"]))),
    "tcp-listen": listen,
    "abstract-socket": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, f"\0{t['TOKEN']}"),
    "memory-file": lambda: read_memory(t["VICTIM"]),
    "referee-memory": lambda: read_memory(t["REFEREE"]),
    "worker-memory": lambda: read_memory(t["WORKER"]),
    "warden-memory": lambda: read_memory(t["VICTIM_WARDEN"]),
    "referee-environment": lambda: report_secrets(read(f"/proc/{t['REFEREE']}/environ")),
    "kill-descriptor": lambda: signal.pidfd_send_signal(os.pidfd_open(int(t["VICTIM"])), signal.SIGKILL),
    "kill-thread": lambda: system_call(TGKILL, int(t["VICTIM"]), int(t["VICTIM"]), 9),
    "affinity": lambda: os.sched_setaffinity(int(t["VICTIM"]), {min(os.sched_getaffinity(0))}),
    "policy": lambda: os.sched_setscheduler(int(t["VICTIM"]), os.SCHED_IDLE, os.sched_param(0)),
    "limits": lambda: limit(t["VICTIM"], resource.RLIMIT_NOFILE, 3),
    "limits-of-referee": lambda: limit(t["REFEREE"], resource.RLIMIT_FSIZE, 1),
    "limits-of-worker": lambda: limit(t["WORKER"], resource.RLIMIT_NOFILE, 3),
    "starve": starve_of_processes,
    "kill-referee": lambda: os.kill(int(t["REFEREE"]), signal.SIGKILL),
    "pipes-filled": lambda: fill_pipes(t["WORKER"]),
    "pipes-of-referee-filled": lambda: fill_pipes(t["REFEREE"]),
    "outlive": lambda: daemon(),
    "outlive-warden": lambda: daemon(t["WARDEN"]),
    "outlive-all": lambda: daemon(t["LAUNCHER"], t["WARDEN"]),
    "outlive-referee": lambda: daemon(t["LAUNCHER"], t["WARDEN"], t["WORKER"], t["REFEREE"]),
    "results-rewrite": rewrite_results,
    "results-rename": lambda: os.rename(t["RESULTS"], t["RESULTS"] + "-gone"),
    "results-truncate": lambda: os.truncate(f"{t['RESULTS']}/games.jsonl", 100),
    "results-listed": lambda: os.listdir(t["RESULTS"]),
    "results-measured": lambda: os.stat(f"{t['RESULTS']}/games.jsonl"),
    "results-closed": lambda: os.chmod(t["RESULTS"], 0),
    "program-closed": lambda: os.chmod(t["VICTIM_SOURCE"], 0),
    "program-written": lambda: append_to(t["VICTIM_SOURCE"]),
    "program-renamed": lambda: os.rename(t["VICTIM_SOURCE"], t["VICTIM_SOURCE"] + "-gone"),
    "scratch-read": lambda: report_secrets(read(t["VICTIM_SCRATCH"])),
    "referee-code": lambda: append_to(t["REFEREE_CODE"]),
    "tournament-file": lambda: append_to(t["TOURNAMENT"]),
    "path-socket": lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, t["SOCKET"]),
    "core-pattern": lambda: opened("/proc/sys/kernel/core_pattern", os.O_WRONLY),
    "system-settings": lambda: opened("/proc/sys/kernel/pid_max", os.O_WRONLY),
    "system-request": lambda: opened("/proc/sysrq-trigger", os.O_WRONLY),
    "block-device": lambda: open_any("/dev", os.O_RDONLY),
    "kernel-log": lambda: opened("/dev/kmsg", os.O_RDONLY),
    "control-groups": lambda: opened(t["CONTROL_GROUP"], os.O_WRONLY),
    "high-priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -20),
    "real-time": real_time,
    "own-oom-score": lower_own_oom_score,
    "connections": connections,
    "home-times": lambda: os.utime(f"{t['HOME_OF_USER']}/.profile", (0, 0)),
    "home-attribute": lambda: os.setxattr(f"{t['HOME_OF_USER']}/.profile", "user.x", b"x"),
    "root-folder": lambda: make_and_remove(f"/{t['TOKEN']}"),
    "device-folder": lambda: make_and_remove(f"/dev/{t['TOKEN']}"),
    "device-mode": lambda: os.chmod("/dev/full", os.stat("/dev/full").st_mode & 0o7777),
    "device-times": lambda: same_times("/dev/full"),
    "terminals": os.openpty,
    "memory-bomb-hidden": hidden_memory,
    "memory-bomb-sent": sent_memory,
    "deep-folders": deep_folders,
    "terminal-input": lambda: [
        fcntl.ioctl(os.open(t["TERMINAL"], os.O_RDWR | os.O_NOCTTY), 0x5412, bytes([byte]))
        for byte in t["TOKEN"].encode()
    ],
    "fork-bomb": fork_bomb,
    "memory-bomb": memory_bomb,
    "memory-bomb-file": in_memory_file,
    "memory-bomb-shared": in_shared_memory,
    "memory-bomb-kept": system_v_memory,
    "disk-filler": fill_disk,
    "inode-filler": fill_inodes,
    "busy-children": sixty_busy,
}


def attack(name: str) -> None:
    report(f"tries {name}")
    try:
        ATTACKS[name]()
        report("did")
    except Exception as error:
        report(f"failed {type(error).__name__} {error}"[:200])


def read_targets() -> None:
    while True:
        with contextlib.suppress(OSError), open("targets") as file:
            text = file.read()
            if "END=" in text:
                t.update((row[0], row[2]) for row in (line.partition("=") for line in text.splitlines()))
                return
        time.sleep(0.05)


def main() -> None:
    names, game = sys.argv[1].split(","), int(sys.argv[2])
    games = asks = 0
    asked, tried = "", False
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "hello":
            answer = "hello 1"
        elif word == "game":
            games, asks = games + 1, 0
            continue
        elif word == "prepare":
            if games == game:
                read_targets()
            answer = "ready"
        elif word == "ask":
            if games == game and not tried:
                tried = True
                time.sleep(0.5 if game > 1 else 0)
                for name in names:
                    attack(name)
            asks += 1
            asked = rest[0]
            answer = f"resign {asked}" if asks == 4 else f"list {asked} 1"
        elif word == "choice":
            answer = f"move {asked} {' '.join(rest)}"
        elif word == "quit":
            break
        else:
            continue
        os.write(1, answer.encode() + b"\n")


main()
