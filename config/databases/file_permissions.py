"""File permissions under DATA_DIR: everything there is private to the service.

New files are created private; this closes what older releases, restored backups or another umask left
open, and touches nothing else.
"""

import contextlib
import os
import stat
from fnmatch import fnmatch
from pathlib import Path

from config.databases.embedded_server import SystemUser

OWN_NAMES = ("postgres*", "files", "assets", "secret-key*", "api-key-pepper*", "oauth-signing-key*", "rate-limits*")
OTHERS_MODE_BITS = stat.S_IRWXG | stat.S_IRWXO


def make_private(data_dir: Path, *, database_user: SystemUser | None) -> None:
    """Remove other users' access to our files in ``data_dir``; ``database_user`` as in
    ``make_directory_private``.
    """
    make_directory_private(data_dir, database_user=database_user)
    for directory, directories, files, directory_fd in os.fwalk(data_dir):
        if Path(directory) == data_dir:
            directories[:] = [name for name in directories if _is_own_name(name)]
            files = [name for name in files if _is_own_name(name)]  # noqa: PLW2901
        else:
            _clear_others_bits(directory_fd)
        for name in files:
            _make_file_private(name, directory_fd=directory_fd)


def make_directory_private(data_dir: Path, *, database_user: SystemUser | None) -> None:
    """Make ``data_dir`` accessible to its owner only, and to the group of ``database_user``.

    A directory that also holds other files, or is not ours, is left unchanged.
    """
    status = data_dir.stat()
    if status.st_mode & stat.S_ISVTX or not all(_is_own_name(each.name) for each in data_dir.iterdir()):
        return
    with contextlib.suppress(PermissionError):
        if database_user is None or database_user.uid == status.st_uid:
            data_dir.chmod(0o700)
        else:
            os.chown(data_dir, -1, database_user.gid)
            data_dir.chmod(0o710)


def _is_own_name(name: str) -> bool:
    return name == "lost+found" or any(fnmatch(name, pattern) for pattern in OWN_NAMES)


def _make_file_private(name: str, *, directory_fd: int) -> None:
    """Make a file private by name within an open directory; links are not followed."""
    with contextlib.suppress(OSError):  # deleted meanwhile, or not ours
        status = os.stat(name, dir_fd=directory_fd, follow_symlinks=False)
        if stat.S_ISREG(status.st_mode) and status.st_mode & OTHERS_MODE_BITS and status.st_nlink == 1:
            file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory_fd)
            try:
                _clear_others_bits(file)
            finally:
                os.close(file)


def _clear_others_bits(number: int) -> None:
    mode = stat.S_IMODE(os.fstat(number).st_mode)
    if mode & OTHERS_MODE_BITS:
        with contextlib.suppress(PermissionError):
            os.fchmod(number, mode & ~OTHERS_MODE_BITS)
