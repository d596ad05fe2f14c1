"""A real browser for tests of pages: Chromium without a window, and what a page does that no page may do."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect, sync_playwright

from tests.waiting import TOO_LONG_S

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
"""What Chromium is called on different systems."""

TOO_LONG_MS = TOO_LONG_S * 1000
expect.set_options(timeout=TOO_LONG_MS)

SETTLED = """() => new Promise(
    done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))
)"""
"""Is over when the page has been drawn, and what it wanted to do next is done."""

FOREIGN = """() => {
    const found = [];
    for (const element of document.querySelectorAll("*")) {
        const name = element.localName;
        if (["img", "image", "iframe", "object", "embed", "base", "owned-tag", "b"].includes(name)) {
            found.push(element.outerHTML);
        }
        if (name === "meta" && element.httpEquiv === "refresh") found.push(element.outerHTML);
        if (name === "script" && !element.type && element !== document.scripts[document.scripts.length - 1]) {
            found.push(element.outerHTML);
        }
        for (const attribute of element.attributes) {
            if (/^on/.test(attribute.name) || /^\\s*javascript:/i.test(attribute.value)) {
                found.push(`${name} ${attribute.name}=${attribute.value}`);
            }
        }
    }
    if (window.owned !== undefined) found.push("a script ran");
    return found;
}"""
"""What of a page is not ours."""

AS_THE_BROWSER_WRITES_IT = """svg => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", "g");
    element.innerHTML = svg;
    return element.innerHTML;
}"""
"""The inside of an `<svg>` as the browser would write it."""

LOCAL = ("file:", "data:", "blob:", "about:")
"""What pages may ask for without a server."""


class Look(NamedTuple):
    """How a page is shown."""

    name: str
    width: int
    height: int
    scheme: str
    """`light` or `dark`."""


LIGHT = Look("light", 1280, 800, "light")
DARK = Look("dark", 1280, 800, "dark")
PHONE = Look("phone", 390, 844, "light")
LOOKS = (LIGHT, DARK, PHONE, Look("phone-dark", 390, 844, "dark"))


@cache
def chromium_path() -> str:
    """The program of Chromium; empty where there is none that starts: one of its names may be a mere stub."""
    for name in NAMES:
        path = shutil.which(name)
        if not path:
            continue
        tried = subprocess.run([path, "--version"], capture_output=True, timeout=TOO_LONG_S)
        if tried.returncode == 0:
            return path
    return ""


@contextlib.contextmanager
def running_chromium() -> Iterator[Browser]:
    """The browser, which ends with the context."""
    as_root = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium_path(), args=as_root, timeout=TOO_LONG_MS
        )
        try:
            yield browser
        finally:
            browser.close()


class Watched(NamedTuple):
    """A page, and what it did that no page of ours may do."""

    page: Page
    complaints: list[str]

    def settle(self) -> list[str]:
        """The complaints, when the page has been drawn."""
        self.page.evaluate(SETTLED)
        return self.complaints


@contextlib.contextmanager
def watched_page(
    browser: Browser, server: str = "", look: Look = LIGHT, touch: bool = False
) -> Iterator[Watched]:
    """A new page that is watched from the beginning; `server` is how addresses begin that it may ask for."""
    context = new_context(browser, touch=touch)
    try:
        complaints: list[str] = []
        _watch(context, complaints, server)
        page = context.new_page()
        show_as(page, look)
        yield Watched(page, complaints)
    finally:
        context.close()


def new_context(browser: Browser, java_script_enabled: bool = True, touch: bool = False) -> BrowserContext:
    """A context that is as patient as all tests."""
    context = browser.new_context(java_script_enabled=java_script_enabled, has_touch=touch)
    context.set_default_timeout(TOO_LONG_MS)
    return context


def _watch(context: BrowserContext, complaints: list[str], server: str) -> None:
    """Notes what no page may do: errors, violations of its content security policy (the browser tells of both
    on the console), dialogs, further windows, downloads, requests to elsewhere.
    """

    def dismiss(dialog: Dialog) -> None:
        complaints.append(f"{dialog.type} dialog: {dialog.message}")
        dialog.dismiss()

    def note_requests(page: Page) -> None:
        page.on("download", lambda download: complaints.append(f"download: {download.url}"))
        page.on("popup", lambda popup: complaints.append(f"window: {popup.url}"))

    own = (*LOCAL, server) if server else LOCAL
    context.on("dialog", dismiss)
    context.on("page", note_requests)
    context.on("weberror", lambda error: complaints.append(f"error: {error.error}"))
    context.on(
        "console",
        lambda message: complaints.append(f"console: {message.text}") if message.type == "error" else None,
    )
    context.on(
        "request",
        lambda request: None if request.url.startswith(own) else complaints.append(f"request: {request.url}"),
    )


def show_as(page: Page, look: Look) -> None:
    """Changes the size of the page and its colours."""
    page.set_viewport_size({"width": look.width, "height": look.height})
    page.emulate_media(color_scheme="dark" if look.scheme == "dark" else "light")


def open_file(page: Page, path: Path) -> None:
    """Opens a page that is a file, and waits until it has been drawn."""
    page.goto(path.absolute().as_uri())
    page.evaluate(SETTLED)


def press(page: Page, *keys: str) -> None:
    """Presses keys one after the other, by their names in the DOM: `ArrowRight`, `End`, `a`."""
    for key in keys:
        page.keyboard.press(key)


def unfold(page: Page) -> None:
    """Opens everything that can be opened."""
    page.evaluate("() => document.querySelectorAll('details').forEach(part => { part.open = true; })")


def barriers(page: Page) -> list[str]:
    """What axe finds to keep people from using the page, if it is serious or critical, and landmarks that
    cannot be told apart: a line for each.
    """
    page.evaluate((resources.files("axe_playwright_python") / "axe.min.js").read_text())
    found: dict[str, Any] = page.evaluate(
        "options => axe.run(document, options)", {"resultTypes": ["violations"], "preload": False}
    )
    return [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: "
        + "; ".join(f"{node['target']} {node['html'][:200]}" for node in violation["nodes"][:5])
        for violation in found["violations"]
        if violation["impact"] in ("serious", "critical") or violation["id"] == "landmark-unique"
    ]


def wider_than_screen(page: Page) -> int:
    """By how many pixels the page is wider than the screen, so that it must be scrolled sideways."""
    root = "document.documentElement"
    return int(page.evaluate(f"() => {root}.scrollWidth - {root}.clientWidth"))


def foreign_parts(page: Page) -> list[str]:
    """What of the page is not ours: elements, attributes and addresses that a text became."""
    found: list[str] = page.evaluate(FOREIGN)
    return found


def check(page: Page, looks: Sequence[Look] = LOOKS) -> None:
    """Nothing of the page is foreign, and everybody can use it, all of it unfolded."""
    unfold(page)
    assert foreign_parts(page) == []
    for look in looks:
        show_as(page, look)
        assert wider_than_screen(page) == 0, look.name
        assert barriers(page) == [], look.name
