"""Disks that are small, full or read-only; they need the right to mount, and a test is skipped where there is none."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest


@contextlib.contextmanager
def mount_small_disk(place: Path, *, megabytes: int) -> Iterator["Disk"]:
    """An empty disk of that size at a new directory."""
    place.mkdir()
    mount_disk("-t", "tmpfs", "-o", f"size={megabytes}m,mode=0755", "tmpfs", str(place))
    try:
        yield Disk(place)
    finally:
        unmount_disk(place)


class Disk:
    """A mounted disk that can be filled to the last byte."""

    def __init__(self, place: Path) -> None:
        self.place, self.ballast = place, place / "ballast"

    def fill(self) -> None:
        """Nothing has room any more."""
        with self.ballast.open("wb", buffering=0) as ballast, contextlib.suppress(OSError):
            while ballast.write(bytes(4096)):
                pass

    def free(self) -> None:
        self.ballast.unlink(missing_ok=True)


@contextlib.contextmanager
def make_read_only(place: Path) -> Iterator[None]:
    """Nothing can be written there: by its mode for an ordinary user, by a mount for root, who ignores modes."""
    if os.geteuid() != 0:
        mode = place.stat().st_mode
        place.chmod(0o555)
        yield
        place.chmod(mode)
        return
    mount_disk("--bind", str(place), str(place))
    try:
        mount_disk("-o", "remount,bind,ro", str(place))
        yield
    finally:
        unmount_disk(place)


def mount_disk(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"disks cannot be mounted here: {done.stderr.strip()}")


def unmount_disk(place: Path) -> None:
    subprocess.run(["umount", "--lazy", str(place)], check=True, capture_output=True)
