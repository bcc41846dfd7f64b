"""The files of an archive, within the size that an archive of statements can have. No database."""

from collections.abc import Iterator

from ledger.calc.zip_files import open_archive, read_member

MAX_FILES = 1000
MAX_UNPACKED_BYTES = 256 * 1024 * 1024  # bytes of all files together


def unpack_archive(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of each file, in their order; folders and files that systems leave beside are left out.

    One is in memory at a time, and nothing is written anywhere.

    Raises:
        BadArchive: it is broken, locked, or unpacks to more than MAX_FILES or MAX_UNPACKED.
    """
    with open_archive(content, max_files=MAX_FILES, max_unpacked=MAX_UNPACKED_BYTES) as archive:
        for member in archive.infolist():
            if not member.is_dir() and not is_system_file(member.filename):
                yield member.filename, read_member(archive, member)


def is_system_file(name: str) -> bool:
    """Whether a file was added by an operating system."""
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
