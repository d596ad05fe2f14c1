"""The page about Python: its listings run in their order as one script, and print what stands there. Types of
them and of the notebook are checked; `test_installed.py` runs the notebook.
"""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import referee
from tests.command import ROOT

PAGE = (ROOT / "referee" / "docs" / "PYTHON.md").read_text()
LISTINGS = re.findall(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", PAGE, re.MULTILINE | re.DOTALL)
(README,) = re.findall(
    r"^```python\n(import referee\n.*?)^```", (ROOT / "README.md").read_text(), re.M | re.S
)
NOTEBOOK = json.loads((ROOT / "referee" / "examples" / "notebooks" / "tournament.ipynb").read_text())
CELLS = [cell for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]
END = "end of a listing"


def script(folder: Path) -> Path:
    """The listings of the page as a script, beside the tournament file of the page."""
    (tournament,) = re.findall(r"^```toml\n# cup\.toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (folder / "cup.toml").write_text(tournament)
    file = folder / "page.py"
    file.write_text("".join(f"{code}print({END!r})\n" for code, _ in LISTINGS))
    return file


def run_in(folder: Path, *words: str | Path) -> str:
    done = subprocess.run([sys.executable, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_listings_print_what_stands_there(tmp_path: Path) -> None:
    assert len(LISTINGS) == 6
    *printed, rest = run_in(tmp_path, script(tmp_path)).split(f"{END}\n")
    assert rest == ""
    for (code, expected), out in zip(LISTINGS, printed, strict=True):
        if expected:
            assert untold(out) == untold(expected), code
        else:
            assert out or "print(" not in code, code


def untold(text: str) -> str:
    """A text without the level of isolation, of which each machine has its own."""
    return re.sub(r"^isolation: .*", "isolation", text, flags=re.MULTILINE)


@pytest.mark.slow
def test_the_listings_have_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    (tmp_path / "readme.py").write_text(README)
    (tmp_path / "notebook.py").write_text("\n".join("".join(cell["source"]) for cell in CELLS))
    others = (tmp_path / "readme.py", tmp_path / "notebook.py")
    run_in(ROOT, "-m", "mypy", "--strict", script(tmp_path), *others)


@pytest.mark.slow
def test_the_lines_of_the_readme_play_a_match(tmp_path: Path) -> None:
    assert "greedy" in run_in(tmp_path, "-c", README)


def test_the_notebook_has_no_results_yet() -> None:
    assert len(CELLS) > 8
    assert [cell["outputs"] for cell in CELLS if cell["outputs"]] == []


def test_every_public_name_stands_in_the_page() -> None:
    for name in referee.__all__:
        found = getattr(referee, name)
        names = {name}
        if inspect.isclass(found) and not issubclass(found, Exception):
            names |= {member for member in dir(found) if not member.startswith("_")}
            names |= {*getattr(found, "__dataclass_fields__", ())}
        elif inspect.isfunction(found):
            names |= {*inspect.signature(found).parameters} - {"keys"}
        for written in names:
            assert re.search(rf"\b{written}\b", PAGE), f"{name}: {written}"
