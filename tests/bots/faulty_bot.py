"""A bot that faults as its seed says: `faulty_bot.py seeded MARK VICES SILENCES LAPSES`, which are what it
draws from, separated by `|`; or `faulty_bot.py VICE MARK [LAST]`.

It plays any game, with the first of the legal moves that the referee lists, and resigns on its last turn.
The mark is nothing to it; by it others know its processes.
"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120

from tests.tools.fault_plan import NO_TURN, Plan, plan_of

MAX_S = 60
"""Nothing of this bot lives on for longer by itself."""

BESIDE = {
    "no number": "move",
    "no text": "move {n}",
    "number with a sign": "move +{n} A",
    "control character": "move {n} \x1b[2J",
    "byte order mark": "\ufeffresign {n}",
    "next number": "resign {next}",
    "number zero": "resign 0",
    "ready again": "ready",
    "hello again": "hello 1",
    "noise": "Thinking …\n\n  moves: 1\nmoves 1\n\tMOVE 1",
    "info": "info\ninfo depth 4\nlog\ninfo \u202e\u2028",
}
"""What it says before its answer, for some vices."""

AS = {
    "answers and is malformed": "{answer}\nmove",
    "answers the next one too": "{answer}\nresign {next}",
    "answers twice": "{answer}\n{answer}\nresign {n}",
    "carriage return": "{answer}\r",
    "blanks": " \t {answer}  \t",
}
"""How it says its answer, for some vices."""

unread = b""


def write(data: bytes, to: int = 1) -> None:
    while data:
        data = data[os.write(to, data) :]


def complain(data: bytes) -> None:
    try:  # noqa: SIM105 (its import takes longer than starting Python)
        write(data, to=2)
    except OSError:
        pass  # it was closed in an earlier game


def say(line: str) -> None:
    write(line.encode() + b"\n")


def read() -> tuple[str, list[str]]:
    """The next line's words; exits where the referee is gone."""
    global unread
    while b"\n" not in unread:
        data = os.read(0, 65536)
        if not data:
            os._exit(0)
        unread += data
    line, _, unread = unread.partition(b"\n")
    word, *rest = line.decode().split(" ")
    return word, rest


def linger() -> None:
    time.sleep(MAX_S)
    os._exit(0)


def for_ever(data: bytes, pause_s: float = 0.0) -> None:
    until = time.monotonic() + MAX_S
    while time.monotonic() < until:
        write(data)
        time.sleep(pause_s)
    os._exit(0)


def send(name: str, pid: int) -> None:
    import signal  # not for all bots: it takes as long as starting Python does

    os.kill(pid, getattr(signal, name))


def ignore_term() -> None:
    import signal

    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def leave_a_helper(session: bool, holds: tuple[int, ...] = (), detached: bool = False) -> None:
    """A process that outlives the bot if it is let, and holds some of the bot's streams. Where the bot plays
    on, that is not its input nor its output: it may yet close them in another game, and that should be seen.
    """
    if os.fork() == 0:
        if session:
            os.setsid()
        if detached and os.fork():
            os._exit(0)
        for descriptor in {0, 1, 2}.difference(holds):
            os.closerange(descriptor, descriptor + 1)
        linger()


class FaultyBot:
    """A bot in one game."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self.move_ms = 0
        self.turn = 0
        self.plan = Plan("none", 1, NO_TURN)

    def get_ready(self) -> None:
        match self.plan.vice:
            case "exits before ready":
                os._exit(0)
            case "malformed before ready":
                say("move")
            case "hello again before ready":
                say("hello 1")
            case "flood before ready":
                for_ever(b"loading " * 100 + b"\n")
        say("ready")
        match self.plan.vice:
            case "exits after ready":
                os._exit(0)
            case "never reads":
                linger()

    def take(self, number: int, rejected: bool) -> None:
        """A question: a new turn, if it does not follow a rejection."""
        self.turn += not rejected
        if not self.plan.happens(self.turn):
            say(self.answer(number))
        elif self.plan.vice == "illegal for ever" or (self.plan.vice == "illegal once" and not rejected):
            say(f"move {number} nonsense")
        elif self.plan.vice == "always late":
            if number > 1:
                say(f"resign {number - 1}")
        elif self.plan.vice != "mute":
            self.misbehave(number)
            self.give(number, self.answer(number))

    def answer(self, number: int) -> str:
        """Resigns on the last turn; else the first legal move, from as many lists as the vice wants."""
        if self.turn >= self.plan.last:
            return f"resign {number}"
        lists = 16 if self.plan.happens(self.turn) and self.plan.vice == "sixteen lists" else 1
        say("\n".join([f"list {number}"] * lists))
        for _ in range(lists):
            word, words = read()
            if word != "legal":
                os._exit(0)  # it is out, for what it said before
            moves = [" ".join(read()[1]) for _ in range(int(words[2]))]
        return f"move {number} {moves[0]}"

    def misbehave(self, number: int) -> None:
        """What comes before the answer, or instead of it."""
        match self.plan.vice:
            case vice if vice in BESIDE:
                say(BESIDE[vice].format(n=number, next=number + 1))
            case "silent":
                linger()
            case "chatters":
                for_ever(b"log still thinking\n", 0.002)
            case "drips":
                for_ever(b"x", 0.02)
            case "half an answer":
                write(f"move {number} ".encode())
                linger()
            case "stops itself":
                send("SIGSTOP", os.getpid())
                linger()
            case "ignores TERM":
                ignore_term()
                linger()
            case "old answer":
                if number > 1:
                    say(f"resign {number - 1}")
            case "exits":
                os._exit(3)
            case "kills itself":
                send("SIGKILL", os.getpid())
            case "exits within a line":
                write(b"mov")
                os._exit(0)
            case "exits without a newline":
                write(f"resign {number}".encode())
                os._exit(0)
            case "exits, a helper holds its output":
                leave_a_helper(session=True, holds=(0, 1, 2))
                os._exit(0)
            case "closes output":
                os.close(1)
                linger()
            case "endless line":
                for_ever(b"x" * 1000)
            case "endless lines":
                for_ever(b"thinking " * 100 + b"\n")
            case "endless log":
                for_ever(b"log " + b"thinking " * 100 + b"\n")
            case "seventeen lists":
                say("\n".join([f"list {number}"] * 17))
                linger()
            case "no UTF-8":
                write(b"move %d \xff\xfe\n" % number)
            case "long log":
                for _ in range(200):
                    say("log " + "x" * 4000)
            case "stderr flood":
                complain(b"\xff\x1b[2J complaint\n" * 20_000)
            case "closes stderr":
                os.closerange(2, 3)
            case "helper in its group":
                leave_a_helper(session=False, holds=(2,))
            case "helper in a session":
                leave_a_helper(session=True, holds=(2,))
            case "helper in a session, detached":
                leave_a_helper(session=True, detached=True)

    def give(self, number: int, answer: str) -> None:
        """The answer, and what comes behind it."""
        match self.plan.vice:
            case vice if vice in AS:
                say(AS[vice].format(answer=answer, n=number, next=number + 1))
            case "answers and exits":
                say(answer)
                os._exit(0)
            case "answers and kills itself":
                say(answer)
                send("SIGKILL", os.getpid())
            case "closes input and answers":
                os.close(0)
                say(answer)
                linger()
            case "answers and floods":
                say(answer)
                for_ever(b"thinking " * 100 + b"\n")
            case "answers and chatters":
                say(answer)
                write(b"thinking of something else\n" * 4000)
            case "in pieces":
                for letter in f"{answer}\n":
                    write(letter.encode())
                    time.sleep(0.0005)
            case _:
                say(answer)

    def leave(self) -> None:
        match self.plan.vice:
            case "stays after quit":
                linger()
            case "ignores TERM after quit":
                ignore_term()
                linger()
        os._exit(0)


def main(vice: str, rest: list[str]) -> None:
    if vice == "exits at once":
        os._exit(1)
    bot = FaultyBot("")
    rejected = False
    while True:
        word, words = read()
        if word == "hello":
            say("hello 1")
        elif word == "game":
            bot = FaultyBot(words[0])
        elif word == "clock":
            bot.move_ms = int(words[0])
        elif word == "seed":
            if vice == "seeded":
                drawn = [names.split("|") for names in rest]
                bot.plan = plan_of(int(words[0]), bot.slug, bot.move_ms, drawn)
            else:
                bot.plan = Plan(vice, 1, int(rest[0]) if rest else NO_TURN)
        elif word == "prepare":
            bot.get_ready()
        elif word == "rejected":
            rejected = True
        elif word == "ask":
            bot.take(int(words[0]), rejected)
            rejected = False
        elif word == "end" and bot.plan.vice == "exits at the end":
            os._exit(0)
        elif word == "quit":
            bot.leave()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3:])
