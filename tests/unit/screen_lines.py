"""What a program draws on the whole screen of a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from textual.app import App
    from textual.pilot import Pilot


async def settle(pilot: Pilot[Any]) -> None:
    """Waits until messages are handled; one may lead to others: to an action, a layout, a title."""
    for _ in range(3):
        await pilot.pause(0)


def screen_lines(app: App[Any]) -> list[str]:
    """The lines of the screen, without blanks at their ends."""
    strips = app.screen._compositor.render_strips()
    return ["".join(segment.text for segment in strip).rstrip() for strip in strips]
