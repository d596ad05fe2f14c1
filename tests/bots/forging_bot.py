"""A bot that writes to whoever reads about it: escapes, titles, links, bells, turned text, wherever something
of it is shown. `forging_bot.py [PLACE ...]`; it asks for the legal moves and plays on.
"""

import os
import sys

CONTROLS = b"\x1b[2J\x1b]0;owned\x07\x1b]8;;http://x\x07\r\x08\x00\x7f\x9b31m\xff\xfe"
"""What no message may hold."""

TURNING = '\u202eevil\u2066\u2028\u2029\u0085\u009b31m\u200f\ufeff=1+1|`"],'
"""What a message may hold, being characters beyond ASCII, and what must not be shown as it is."""

places = sys.argv[1:]


def say(line: bytes) -> None:
    os.write(1, line + b"\n")


def turned(words: str) -> bytes:
    return f"{words} {TURNING}".encode()


os.write(2, b"starting " + CONTROLS + TURNING.encode() + b"\n")
number = b""
rejected = False
for line in sys.stdin.buffer:
    word, *rest = line.split()
    if word == b"hello":
        say(b"banner " + CONTROLS)
        say(turned("hello 1"))
    elif word == b"prepare":
        say(b"ready")
        rejected = False
    elif word == b"ask":
        number = rest[0]
        os.write(2, b"thinking " + CONTROLS + b"\n")
        say(b"noise " + CONTROLS)
        say(turned("noise"))
        say(turned("log"))
        say(turned("info"))
        if not rejected:
            rejected = True
            say(turned(f"move {number.decode()}"))
        elif "malformed" in places:
            say(b"move " + number + b" " + CONTROLS)
        elif "turn" in places:
            say(turned("move 999"))
        elif "flood" in places:
            say(turned("log") * 1000)
        elif "partial" in places:
            os.write(1, CONTROLS + TURNING.encode())
            os._exit(1)
        else:
            say(b"list " + number + b" 1")
    elif word == b"choice":
        say(b"move " + number + b" " + b" ".join(rest))
    elif word == b"quit":
        break
