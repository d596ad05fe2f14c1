"""What a bot was sent, byte for byte: the input of its process, to be replayed by hand."""

from __future__ import annotations

from collections.abc import Callable

from referee.wire.dialogue import TO_BOT


class BotInput:
    """A tap that passes on what one process is sent, from `hello` to `quit`: the first process that plays a
    game in a certain seat. What a later process of the same bot is sent is left out.
    """

    def __init__(self, number: int, write: Callable[[bytes], object]) -> None:
        """`number` is that of the seat, counted from 1."""
        self._number = b"%d" % number
        self._write = write
        self._greetings: dict[str, bytes] = {}
        """What each process was sent that plays no game yet."""
        self.bot = ""
        """The name of the bot; empty as long as no game was described to the seat."""
        self._is_over = False

    def __call__(self, name: str, direction: str, data: bytes) -> None:
        """Takes what passes, as a `Tap`; what bots are sent comes in whole messages."""
        if direction != TO_BOT or self._is_over:
            return
        is_new = data.startswith(b"hello ")
        if not self.bot:
            if is_new:
                self._greetings[name] = data
            elif data.startswith(b"game ") and data.split()[3] == self._number:
                self.bot = name
                self._write(self._greetings[name] + data)
        elif name == self.bot:
            self._is_over = is_new  # guard: input-of-one-process
            if not is_new:
                self._write(data)
