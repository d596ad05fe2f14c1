"""Opens regular files only: what lies in the place of one can neither block nor lead elsewhere."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def open_regular(path: Path, flags: int = os.O_RDONLY, *, follow: bool = False) -> int:
    """A descriptor of a regular file, which is created for its owner alone where `flags` ask for it.

    A symbolic link is refused unless `follow` is true. Raises `OSError`.
    """
    flags |= os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY | (0 if follow else os.O_NOFOLLOW)
    try:
        file = os.open(path, flags, 0o600)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link, or a pipe that nobody reads
            raise _not_regular() from None
        raise
    if not stat.S_ISREG(os.fstat(file).st_mode):  # guard: regular
        os.close(file)
        raise _not_regular()
    return file


def _not_regular() -> OSError:
    return OSError(errno.EINVAL, "it is not a regular file")
