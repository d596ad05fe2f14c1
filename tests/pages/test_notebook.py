"""What notebooks show: in the theme of the notebook, and apart from it, whatever bots wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee import kit
from referee.api import results
from tests.tools.hostile_run import Hostile

pytest.importorskip("playwright")

from playwright.sync_api import Page, expect

from tests.pages.browser import open_file

pytestmark = pytest.mark.slow


def notebook(path: Path, *outputs: str, theme: str = "light") -> Path:
    """A page as notebooks are exported: it says its theme in an attribute of its own."""
    is_light = str(theme == "light").lower()
    body = "\n".join(f"<div class=output>{output}</div>" for output in outputs)
    path.write_text(f'<!doctype html><title>n</title><body data-jp-theme-light="{is_light}">{body}</body>')
    return path


@pytest.mark.parametrize(("theme", "board"), [("light", "rgb(255, 255, 255)"), ("dark", "rgb(27, 30, 35)")])
def test_a_board_takes_the_theme_of_the_notebook(theme: str, board: str, page: Page, tmp_path: Path) -> None:
    open_file(page, notebook(tmp_path / "n.html", kit.new("blooms", size=3)._repr_html_(), theme=theme))
    fill = "() => getComputedStyle(document.querySelector('svg > rect.fill-page')).fill"
    assert page.evaluate(fill) == board


@pytest.mark.parametrize("run", Hostile._fields)
def test_results_of_hostile_bots(run: str, hostile: Hostile, page: Page, tmp_path: Path) -> None:
    opened = results.open(getattr(hostile, run))
    shown = [opened._repr_html_(), opened.games._repr_html_(), opened[0]._repr_html_()]
    open_file(page, notebook(tmp_path / "n.html", *shown))
    inner = page.frame_locator("iframe.referee-page")
    expect(inner.get_by_role("button", name="Dark")).to_be_visible()  # its script runs
    assert inner.locator(".moves li").count() > 1
    for frame in page.frames:
        assert frame.evaluate("() => window.owned") is None
    assert (
        page.frames[1].evaluate("() => { try { return !!parent.document; } catch { return false; } }")
        is False
    )
    assert page.locator(".output").count() == 3 and page.locator("body script").count() == 0
