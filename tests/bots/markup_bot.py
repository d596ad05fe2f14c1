"""A bot all of whose words are markup: what it plays, what it says of it, what it prints beside.
`markup_bot.py [PLACE ...]`; it asks for the legal moves and plays on, unless a place says how it faults.
"""

from __future__ import annotations

import os
import sys

MARKUP = (
    "<script>owned=1;alert(1)</script>",
    '"><img src=x onerror="owned=1;alert(2)">',
    "'><svg onload='owned=1;alert(3)'>",
    "</script><script>owned=1;alert(4)</script>",
    "</style></title></textarea></template></svg><owned-tag class=owned>",
    "]]> --> <!-- <![CDATA[ <?xml",
    "&lt;b&gt; &amp;amp; &#60;i&#62;",
    '<a href="javascript:owned=1">javascript:alert(5)</a>',
    "{{ 7*7 }} {% raw %} ${owned=1} #{7*7} %s {0} \\u003cb\\u003e",
    '<meta http-equiv=refresh content="0;url=http://192.0.2.1/"><base href=http://192.0.2.1/>',
)
"""Texts that a page must show as they are: none may become an element, an attribute or a script."""

TURNED = "\u202e\u2066\u2028\u0085\u200f\ufeff"
"""Characters that turn text around or end lines, which are allowed in a message."""

CONTROLS = b"\x00\x07\x1b[2J\x7f\xff\xfe\xc3(\xed\xa0\x80"
"""Control characters, and bytes that are not UTF-8."""

LONG = "<b>" * 300


def say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


def play(places: list[str]) -> None:
    number, turn, rejected = "", 0, False
    os.write(2, b"".join(text.encode() + b"\n" for text in MARKUP) + CONTROLS + b"\n")
    for line in sys.stdin:
        word, *rest = line.split()
        text = MARKUP[turn % len(MARKUP)]
        if word == "hello":
            say(f"banner {text}")
            say("hello 1")
        elif word == "prepare":
            turn, rejected = 0, False
            say("ready")
        elif word == "ask":
            number = rest[0]
            os.write(2, b"thinking " + text.encode() + CONTROLS + b"\n")
            os.write(1, b"noise " + text.encode() + CONTROLS + b"\n")
            say(f"log {text} {TURNED} {LONG}")
            say(f"info {text} {TURNED} {LONG if turn % 4 == 0 else ''}")
            if not rejected:
                rejected = True
                say(f"move {number} {TURNED + LONG if turn % 3 == 2 else text}")
            elif turn == 3 and "malformed" in places:
                say(f"move {text}")
            elif turn == 4 and "partial" in places:
                os.write(1, text.encode())
                os._exit(3)
            else:
                say(f"list {number} 1")
        elif word == "choice":
            say(f"move {number} {' '.join(rest)}")
            turn, rejected = turn + 1, False
        elif word == "quit":
            break


if __name__ == "__main__":
    play(sys.argv[1:])
