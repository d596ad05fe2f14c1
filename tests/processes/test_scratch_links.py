"""What a bot does with folders and links while its scratch folder is counted leads nowhere."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from referee.processes import scratch
from tests.processes.programs import PYTHON
from tests.waiting import TOO_LONG_S

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux opens folders without reading them"
)

NOBODY = 65_534

SWAPPING = """
import importlib.util, os, signal, stat, sys
module, folder = sys.argv[1:]
spec = importlib.util.spec_from_file_location("scratch", module)
scratch = importlib.util.module_from_spec(spec)
spec.loader.exec_module(scratch)

outside, inside = f"{folder}/outside", f"{folder}/inside"
for path in (outside, inside, f"{outside}/closed"):
    os.mkdir(path)
for number in range(50):
    open(f"{outside}/{number}", "x").close()
os.chmod(f"{outside}/closed", 0)
os.chmod(outside, 0o555)

def swap():  # a folder that is open, a closed one, or a link to either, by the same name
    while True:
        os.mkdir(f"{inside}/two", 0o500)
        os.chmod(f"{inside}/two", 0)
        os.rmdir(f"{inside}/two")
        for target in (outside, f"{outside}/closed"):
            os.symlink(target, f"{inside}/two")
            os.unlink(f"{inside}/two")

swapping = os.fork()
if swapping == 0:
    swap()
most = counts = 0
while counts < 20_000 or most == 0:  # on a busy machine it takes long until both were at work at once
    most = max(most, scratch.usage(inside, 100).files)
    counts += 1
os.kill(swapping, signal.SIGKILL)
os.waitpid(swapping, 0)
scratch.remove(inside)
print(most, *(oct(stat.S_IMODE(os.stat(path).st_mode)) for path in (outside, f"{outside}/closed")))
os.chmod(outside, 0o755)
"""


def test_a_link_that_takes_the_place_of_a_folder_is_not_followed_when_its_mode_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    closed = inside / "closed"
    for path in (outside, closed):
        path.mkdir(parents=True)
        path.chmod(0)
    look = os.fstat

    def swaps(descriptor: int) -> os.stat_result:
        """A bot that is quicker: when the folder has been opened, a link is there by its name."""
        found = look(descriptor)
        if found.st_ino == closed.lstat().st_ino:
            closed.rename(inside / "moved")
            closed.symlink_to(outside)
        return found

    monkeypatch.setattr(os, "fstat", swaps)
    monkeypatch.setattr(os, "geteuid", lambda: NOBODY)  # root needs no mode, and changes none
    assert scratch.usage(str(inside), 100).files
    monkeypatch.undo()
    assert closed.is_symlink() and stat.S_IMODE(outside.stat().st_mode) == 0
    assert stat.S_IMODE((inside / "moved").stat().st_mode) != 0


@pytest.mark.slow
def test_a_bot_that_swaps_folders_for_links_leads_nowhere(open_folder: Path) -> None:
    module, folder = open_folder / "scratch.py", open_folder / "folder"
    shutil.copy(scratch.__file__, module)
    folder.mkdir()
    user = NOBODY if os.geteuid() == 0 else None  # root changes no modes
    if user:
        os.chown(folder, user, user)
    command = [PYTHON, "-I", "-S", "-c", SWAPPING, str(module), str(folder)]
    others: list[int] | None = [] if user else None
    done = subprocess.run(
        command,
        user=user,
        group=user,
        extra_groups=others,
        capture_output=True,
        text=True,
        timeout=TOO_LONG_S,
    )
    assert (done.stderr, done.stdout.split()) == ("", ["1", "0o555", "0o0"])
