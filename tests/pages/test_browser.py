"""The browser of these tests notices what pages must not do: else the other tests would prove nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page

from tests.pages.browser import (
    DARK,
    PHONE,
    barriers,
    open_file,
    press,
    show_as,
    watched_page,
    wider_than_screen,
)
from tests.waiting import eventually

pytestmark = pytest.mark.slow

SOUND = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A page</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'">
<meta name="viewport" content="width=device-width"></head>
<body><main><h1>A page</h1><p>Text.</p>{}</main></body></html>"""

BAD = {
    "script": ("<script>1</script>", "inline script"),
    "handler": ("<b onclick='1'>b</b>", "inline event handler"),
    "style": ("<b style='color: red'>b</b>", "inline style"),
    "image": ("<img alt='' src='http://127.0.0.1:9/'>", "request: http://127.0.0.1:9/"),
}


def written(path: Path, content: str, policy: bool = True) -> Path:
    text = SOUND.format(content)
    path.write_text(text if policy else text.replace("default-src 'none'", "default-src * 'unsafe-inline'"))
    return path


def test_a_sound_page_has_no_complaints(page: Page, tmp_path: Path) -> None:
    open_file(page, written(tmp_path / "sound.html", ""))
    assert page.title() == "A page"
    assert barriers(page) == []
    press(page, "End")


@pytest.mark.parametrize("content", BAD)
def test_violations_of_the_policy_are_complaints(content: str, chromium: Browser, tmp_path: Path) -> None:
    text, complaint = BAD[content]
    with watched_page(chromium) as watched:
        open_file(watched.page, written(tmp_path / "bad.html", text))
        if content == "handler":
            watched.page.click("b")  # some versions of Chromium look at it only when it is to run
        eventually(lambda: complaint in " ".join(watched.settle()))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("<script>alert(1)</script>", "alert dialog: 1"),
        ("<script>null.x</script>", "error: "),
        ("<script>console.error('oh')</script>", "console: oh"),
        ("<script>fetch('http://127.0.0.1:9/').catch(() => 0)</script>", "request: http://127.0.0.1:9/"),
        ("<script>open('about:blank')</script>", "window: "),
        ("<script>setTimeout(() => alert(2))</script>", "alert dialog: 2"),
    ],
)
def test_what_scripts_do_is_a_complaint(
    content: str, complaint: str, chromium: Browser, tmp_path: Path
) -> None:
    with watched_page(chromium) as watched:
        open_file(watched.page, written(tmp_path / "bad.html", content, policy=False))
        eventually(lambda: complaint in " ".join(watched.settle()))


def test_barriers_are_found(page: Page, tmp_path: Path) -> None:
    open_file(page, written(tmp_path / "bad.html", "<button></button>"))
    assert [line.partition(" ")[0] for line in barriers(page)] == ["button-name"]


def test_looks(page: Page, tmp_path: Path) -> None:
    open_file(page, written(tmp_path / "wide.html", f"<pre>{'x' * 100}</pre>"))
    assert wider_than_screen(page) == 0
    show_as(page, PHONE)
    assert wider_than_screen(page) > 0
    show_as(page, DARK)
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
