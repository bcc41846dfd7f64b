"""What lies under DATA_DIR is the service's alone: documents, logos, secrets, the database.

New things are made private where they are made. This closes what an older release, a restored backup or another umask
left open, and touches nothing that is not ours.
"""

import contextlib
import os
import stat
from fnmatch import fnmatch
from pathlib import Path

from config.databases.cluster import Account

OURS = ("postgres*", "files", "assets", "secret-key*", "api-key-pepper*", "oauth-signing-key*", "rate-limits*")
OTHERS = stat.S_IRWXG | stat.S_IRWXO


def close(data_dir: Path, *, to: Account | None) -> None:
    """None but their owners read or enter what is ours in ``data_dir``; ``to`` as in ``close_door``."""
    close_door(data_dir, to=to)
    for place, directories, files, inside in os.fwalk(data_dir):
        if Path(place) == data_dir:
            directories[:] = [name for name in directories if _is_ours(name)]
            files = [name for name in files if _is_ours(name)]  # noqa: PLW2901
        else:
            _close(inside)
        for name in files:
            _close_file(name, inside=inside)


def close_door(data_dir: Path, *, to: Account | None) -> None:
    """Only its owner enters ``data_dir``; its group passes if that is of ``to``, whom our database runs as.

    A directory that holds other things besides, or is not ours to change, is left as it is.
    """
    status = data_dir.stat()
    if status.st_mode & stat.S_ISVTX or not all(_is_ours(each.name) for each in data_dir.iterdir()):
        return
    with contextlib.suppress(PermissionError):
        if to is None or to.uid == status.st_uid:
            data_dir.chmod(0o700)
        else:
            os.chown(data_dir, -1, to.gid)
            data_dir.chmod(0o710)


def _is_ours(name: str) -> bool:
    return name == "lost+found" or any(fnmatch(name, pattern) for pattern in OURS)


def _close_file(name: str, *, inside: int) -> None:
    """A file by its name in an open directory; links are not followed, so that nobody leads root elsewhere."""
    with contextlib.suppress(OSError):  # gone meanwhile, or somebody else's
        status = os.stat(name, dir_fd=inside, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) and status.st_mode & OTHERS and status.st_nlink == 1:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=inside)
            try:
                _close(file)
            finally:
                os.close(file)


def _close(number: int) -> None:
    mode = stat.S_IMODE(os.fstat(number).st_mode)
    if mode & OTHERS:
        with contextlib.suppress(PermissionError):
            os.fchmod(number, mode & ~OTHERS)
