"""Folders for runs not stored."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import weakref
from collections.abc import Callable
from pathlib import PosixPath

from referee.processes import owned


class ScratchFolder(PosixPath):
    """The path of a folder that is removed when this object, which the results in the folder hold, and the
    hosts that play in it are gone, in whatever way their processes end.
    """

    holder: int  # a descriptor: as long as a process has it open, the folder stays
    remove: Callable[[], object]  # removes the folder at once

    @classmethod
    def made(cls) -> ScratchFolder:
        """A new one."""
        folder = cls(tempfile.mkdtemp(prefix=owned.prefix("match")))
        read, folder.holder = os.pipe()
        folder.remove = weakref.finalize(folder, _remove, os.getpid(), str(folder), folder.holder)
        # What removes it is no child of this process, which may wait for children of its own.
        program = 'exec 3<&0; (while read -r line <&3; do :; done; rm -rf "$1") &'
        nowhere = subprocess.DEVNULL
        subprocess.run(
            ["/bin/sh", "-c", program, "sh", str(folder)],
            stdin=read,
            stdout=nowhere,
            stderr=nowhere,
            start_new_session=True,
            check=False,
        )
        os.close(read)
        return folder


def _remove(owner: int, folder: str, holder: int) -> None:
    """Removes a folder, where this process is its owner: a fork of it is not."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
    os.close(holder)
