"""Scenes: what the program says, word by word, in files beside this one. `WRITE_SCENES=1 .venv/bin/pytest …`
writes those of the tests that it runs anew; review what changes.
"""

from __future__ import annotations

import os
from pathlib import Path


def require_scene(name: str, *texts: str) -> None:
    """Has a scene be these texts, with blank lines between them."""
    file = Path(__file__).parent / f"{name}.txt"
    text = "\n".join(f"{text.rstrip()}\n" for text in texts)
    if os.environ.get("WRITE_SCENES"):
        file.write_text(text)
    assert text.split("\n") == file.read_text().split("\n"), f"WRITE_SCENES=1 writes {file} anew"
