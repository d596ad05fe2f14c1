"""Makes screenshots of all pages, for people to look at: `python -m tests.tools.screenshots DIR [NAME ...]`.

There is one of each kind of page in three sizes, light and dark, as PNG files in DIR, and as it is printed,
as a PDF file; long pages are cut into several. `index.html` there shows all that are in DIR. With names, only
pages whose name has one of these in it are made.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from html import escape
from pathlib import Path
from typing import NamedTuple

import click

from tests.needed import end_without

try:
    from playwright.sync_api import Page, expect
except ModuleNotFoundError:
    end_without("playwright")

from tests.command import BAD, GREEDY, RANDOM, ROOT, in_python, referee
from tests.pages.browser import (
    Look,
    chromium_path,
    open_file,
    press,
    running_chromium,
    screenshots,
    show_as,
    unfold,
    watched_page,
)
from tests.pages.recorded import BOTS
from tests.processes.serving import serving
from tests.tools import synthetic
from tests.tools.hostile_run import write as write_hostile

Show = Callable[[Page], object]
"""Shows a page."""

Maker = Callable[[Path], Iterator[tuple[str, Show]]]
"""Makes pages of one kind in a folder: what its name adds to that of the kind, and how each is shown."""

LOOKS = [
    Look(f"{width}-{scheme}", width, height, scheme)
    for width, height in ((1440, 900), (1280, 720), (390, 844))
    for scheme in ("light", "dark")
]

TOURNAMENT = """\
[tournament]
rounds = 2
clock = "2s+20s"
seed = "pictures"
keep = "all"

[[game]]
name = "small"
game = "blooms"
options = { size = 3 }

[[game]]
game = "evengroups"
options = { size = 3 }
"""

ENTRANTS = {
    "random": "sample_bots/random_bot.py",
    "plain": "sample_bots/plain_bot.py",
    "search": "sample_bots/search_bot.py --playouts 4",
    "faulty": "tests/bots/markup_bot.py malformed",
    "a-bot-with-a-name-as-long-as-names-of-bots-may-be-in-tournaments": "sample_bots/random_bot.py",
}


class Match(NamedTuple):
    """A match whose first game is shown."""

    game: str
    bots: tuple[str, ...]
    words: tuple[str, ...] = ()


def sample(name: str) -> str:
    """A sample bot, as it is named on a command line."""
    return f"{name}={in_python(ROOT / 'sample_bots' / f'{name}_bot.py')}"


MATCHES = {
    **{slug: Match(slug, (sample(bot), sample("random"))) for slug, bot in BOTS.items() if slug != "thetree"},
    **{
        f"thetree-{seats}": Match(
            "thetree",
            (sample("tree"), *(f"random{seat}={RANDOM}" for seat in range(2, seats + 1))),
            (f"--option=players={seats}", "--option=deals=1"),
        )
        for seats in range(1, 5)
    },
    "out-of-time": Match(
        "blooms", (f"greedy={GREEDY}", f"sleepy={BAD} sleep 0 0.4 0.7 0 0.2 0 60"), ("--time=0.5s+1s",)
    ),
    "illegal": Match("blooms", (f"greedy={GREEDY}", f"stubborn={BAD} 'illegal for ever'")),
}
"""The games of which there is a page each."""


def made(*words: str) -> None:
    """Runs a command."""
    done = referee(*words)
    assert done.code in (0, 6), done.err


def replay(match: Match, folder: Path) -> Iterator[tuple[str, Show]]:
    """The page of a game in its middle and at its end, and of one seat."""
    words = ("--seed", "pictures", "-n", "1", *match.words)
    made("match", match.game, *match.bots, *words, "-o", str(folder / "game"))
    for name, of_seat in {"": (), "-seat": ("--seat", "1")}.items():
        path = folder / f"game{name}.html"
        made("replay", str(folder / "game"), "1", "--html", str(path), *of_seat)
        yield name, partial(at_step, path, "PageDown")
        yield f"{name}-end", partial(at_step, path, "End")


def beside(match: Match, folder: Path) -> Iterator[tuple[str, Show]]:
    """The page of two games beside each other, in their middle and at their end."""
    run, path = folder / "games", folder / "games.html"
    made("match", match.game, *match.bots, "--seed", "pictures", "-n", "2", "-o", str(run))
    made("replay", str(run), "1", "--beside", "2", "--html", str(path))
    yield "", partial(at_step, path, "PageDown")
    yield "-end", partial(at_step, path, "End")


def at_step(path: Path, key: str, page: Page) -> None:
    """Shows a game after a key."""
    open_file(page, path)
    press(page, key)


def report_of(run: Path, folder: Path) -> Path:
    """The report of a run."""
    path = folder / "report.html"
    made("report", str(run), "-o", str(path))
    return path


def with_fragment(path: Path, fragment: str, page: Page) -> None:
    """Shows a part of a report."""
    open_file(page, path)
    page.goto(f"{path.absolute().as_uri()}#{fragment}")


def several_games(folder: Path) -> Iterator[tuple[str, Show]]:
    """The report of a tournament, a game in it, its pages of a bot and of a pair, and the live page."""
    file = folder / "pictures.toml"
    bots = [
        f'[[bot]]\nname = "{name}"\ncwd = "{ROOT}"\ncmd = "{{python}} {cmd}"\n'
        for name, cmd in ENTRANTS.items()
    ]
    file.write_text("\n".join([TOURNAMENT, *bots]))
    made("run", str(file))
    path = report_of(file, folder)

    def show_game(page: Page) -> None:
        open_file(page, path)
        page.locator("#list a").first.click()
        expect(page.locator("dialog")).to_be_visible()
        press(page, "End")

    yield "", partial(open_report, path)
    yield "-game", show_game
    yield "-bot", partial(with_fragment, path, "bot?faulty")
    yield "-pair", partial(with_fragment, path, "pair?search&random")
    with serving(folder / "pictures-results") as server:
        yield "-live", lambda page: page.goto(server.url)


def open_report(path: Path, page: Page) -> None:
    open_file(page, path)


def played(words: tuple[str, ...], folder: Path) -> Iterator[tuple[str, Show]]:
    """The report of what a command played."""
    run = folder / "results"
    made(*words, "-o", str(run))
    yield "", partial(open_report, report_of(run, folder))


def many_bots(bots: int, against: int | None, folder: Path) -> Iterator[tuple[str, Show]]:
    """The report of many bots, and what it says of one."""
    synthetic.write(folder, bots, 1, against)
    path = report_of(folder / "pool-results", folder)
    yield "", partial(open_report, path)
    yield "-bot", partial(with_fragment, path, f"bot?bot{1:0{len(str(bots))}}")


def hostile(folder: Path) -> Iterator[tuple[str, Show]]:
    """A report and a game full of hostile text."""
    run = write_hostile(folder / "hostile").forged
    for name, words in {
        "-report": ("report", str(run), "-o"),
        "-game": ("replay", str(run), "2", "--html"),
    }.items():
        path = folder / f"hostile{name}.html"
        made(*words, str(path))

        def show(page: Page, path: Path = path) -> None:
            open_file(page, path)
            unfold(page)

        yield name, show


TWO = ("match", "blooms", f"greedy={GREEDY}", f"random={RANDOM}", "--option=size=3", "--seed=pictures")

KINDS: dict[str, Maker] = {
    **{name: partial(replay, match) for name, match in MATCHES.items()},
    "beside": partial(beside, MATCHES["blooms"]),
    "report-2": partial(played, (*TWO, "-n", "6")),
    "report-5": several_games,
    "report-30": partial(many_bots, 30, None),
    "report-100": partial(many_bots, 100, 2),
    "sprt": partial(played, (*TWO, "--sprt", "0,100", "-n", "200")),
    "swiss": partial(played, ("run", str(ROOT / "tournaments" / "swiss.toml"))),
    "knockout": partial(played, ("run", str(ROOT / "tournaments" / "knockout.toml"))),
    "gauntlet": partial(played, ("run", str(ROOT / "tournaments" / "gauntlet.toml"))),
    "league": partial(played, ("run", str(ROOT / "tournaments" / "league.toml"))),
    "stages": partial(played, ("run", str(ROOT / "tournaments" / "stages.toml"))),
    "hostile": hostile,
}
"""By name, what makes pages of each kind."""

INDEX = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Screenshots</title>
<style>
body {{ font: 14px sans-serif; margin: 1rem; background: #888; }}
p {{ display: flex; flex-wrap: wrap; gap: .5rem; align-items: start; }}
img {{ height: 20rem; }}
</style>
{}
</html>
"""


def index_of(folder: Path) -> str:
    """The page that shows all pictures of a folder, each as a link to itself; a row for each page."""
    rows: dict[str, list[str]] = {}
    for path in sorted([*folder.glob("*.png"), *folder.glob("*.pdf")]):
        page = path.stem.split("@")[0]
        name = escape(path.name)
        shown = f'<img src="{name}" alt="{name}" loading="lazy">' if path.suffix == ".png" else name
        rows.setdefault(page, []).append(f'<a href="{name}" title="{name}">{shown}</a>')
    return INDEX.format(
        "\n".join(f"<h2>{escape(page)}</h2><p>{''.join(row)}</p>" for page, row in rows.items())
    )


def picture(page: Page, folder: Path, name: str) -> Iterator[Path]:
    """Writes the pictures of a page that is shown, in all looks, and the page as it is printed."""
    for look in LOOKS:
        show_as(page, look)
        yield from screenshots(page, folder / f"{name}@{look.name}.png")
    path = folder / f"{name}@print.pdf"
    page.emulate_media(color_scheme="light")
    page.pdf(path=path, format="A4", prefer_css_page_size=True)
    yield path


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("names", metavar="[NAME]...", nargs=-1)
def main(folder: Path, names: tuple[str, ...]) -> None:
    """Makes screenshots of all pages in DIR, and prints what pages did that they must not do."""
    if not chromium_path():
        end_without("chromium")
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, running_chromium() as browser:
        for kind, maker in KINDS.items():
            if names and not any(wanted in kind for wanted in names):
                continue
            own = Path(scratch) / kind
            own.mkdir()
            for added, show in maker(own):
                with watched_page(browser, "http://127.0.0.1:", LOOKS[0]) as watched:
                    show(watched.page)
                    for path in picture(watched.page, folder, kind + added):
                        click.echo(path)
                    for complaint in watched.settle():
                        click.echo(f"{kind}{added}: {complaint}", err=True)
            shutil.rmtree(own)
    (folder / "index.html").write_text(index_of(folder))


if __name__ == "__main__":
    main()
