"""Makes screenshots of all pages, for people to look at: `python -m tests.tools.screenshots DIR [NAME ...]`.

There is one of each kind of page, in light, dark and at the width of a phone, as PNG files in DIR; long pages
are cut into several. With names, only of the pages whose name has one of these in it.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from tests.needed import end_without

try:
    from playwright.sync_api import Page, expect
except ModuleNotFoundError:
    end_without("playwright")

from tests.command import ROOT, referee
from tests.pages.browser import (
    LOOKS,
    chromium_path,
    open_file,
    press,
    running_chromium,
    screenshots,
    unfold,
    watched_page,
)
from tests.pages.recorded import BOTS, SHORT, play
from tests.processes.serving import serving
from tests.tools.hostile_run import write as write_hostile

Show = Callable[[Page], object]
"""Shows a page."""

TOURNAMENT = """\
[tournament]
rounds = 2
clock = "2s+20s"
seed = "pictures"
keep = "all"

[[game]]
name = "small"
game = "blooms"
options = {{ size = 3 }}

[[game]]
game = "evengroups"
options = {{ size = 3 }}
"""

ENTRANTS = {
    "random": "sample_bots/random_bot.py",
    "plain": "sample_bots/plain_bot.py",
    "search": "sample_bots/search_bot.py --playouts 4",
    "faulty": "tests/bots/markup_bot.py malformed",
}


def made(*words: str) -> None:
    """Runs a command that makes a page."""
    done = referee(*words)
    assert done.code in (0, 6), done.err


def replays(folder: Path) -> Iterator[tuple[str, Show]]:
    """The pages of a game of each kind in its middle and at its end, and of one seat."""
    for slug in BOTS:
        played = play(slug, folder / slug, SHORT[slug])
        for name, words in {"": (), "-seat": ("--seat", "1")}.items():
            path = folder / f"{slug}{name}.html"
            made("replay", str(played), "1", "--html", str(path), *words)
            yield f"{slug}{name}", at_step(path, "PageDown")
            yield f"{slug}{name}-end", at_step(path, "End")


def at_step(path: Path, key: str) -> Show:
    """Shows a game after a key."""

    def show(page: Page) -> None:
        open_file(page, path)
        press(page, key)

    return show


def reports(folder: Path) -> Iterator[tuple[str, Show]]:
    """A report, all of it and with a game, and the live page of the same run."""
    file = folder / "pictures.toml"
    bots = [f'[[bot]]\nname = "{name}"\ncmd = "{{python}} {ROOT}/{cmd}"\n' for name, cmd in ENTRANTS.items()]
    file.write_text("\n".join([TOURNAMENT.format(), *bots]))
    made("run", str(file))
    path = folder / "report.html"
    made("report", str(file), "-o", str(path))

    def show_game(page: Page) -> None:
        open_file(page, path)
        page.locator("#list a").first.click()
        expect(page.locator("dialog")).to_be_visible()
        press(page, "End")

    yield "report", lambda page: open_file(page, path)
    yield "report-game", show_game
    with serving(folder / "pictures-results") as server:
        yield "live", lambda page: page.goto(server.url)


def hostile(folder: Path) -> Iterator[tuple[str, Show]]:
    """A report and a game full of hostile text."""
    run = write_hostile(folder / "hostile").forged
    for name, words in {
        "report": ("report", str(run), "-o"),
        "game": ("replay", str(run), "2", "--html"),
    }.items():
        path = folder / f"hostile-{name}.html"
        made(*words, str(path))

        def show(page: Page, path: Path = path) -> None:
            open_file(page, path)
            unfold(page)

        yield f"hostile-{name}", show


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("names", metavar="[NAME]...", nargs=-1)
def main(folder: Path, names: tuple[str, ...]) -> None:
    """Makes screenshots of all pages in DIR, and prints what pages did that they must not do."""
    if not chromium_path():
        end_without("chromium")
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        browser = stack.enter_context(running_chromium())
        for pages in (replays, reports, hostile):
            for name, show in pages(scratch):
                if names and not any(wanted in name for wanted in names):
                    continue
                for look in LOOKS:
                    with watched_page(browser, "http://127.0.0.1:", look) as watched:
                        show(watched.page)
                        for path in screenshots(watched.page, folder / f"{name}-{look.name}.png"):
                            click.echo(path)
                        for complaint in watched.settle():
                            click.echo(f"{name}: {complaint}", err=True)


if __name__ == "__main__":
    main()
