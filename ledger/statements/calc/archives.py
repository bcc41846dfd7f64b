"""The files of an archive, as long as they unpack to what an archive of statements can be. No database."""

from collections.abc import Iterator

from ledger.calc.zip_files import ZIP_BEGINS, open_archive, read_member

BEGINS = ZIP_BEGINS
MAX_FILES = 1000
MAX_UNPACKED = 256 * 1024 * 1024  # bytes of all files together
OF_WORKBOOKS = (b"[Content_Types].xml", b"xl/", b"_rels/", b"docProps/", b"customXml/")


def is_workbook(start: bytes) -> bool:
    """Whether the first file of an archive is one of a workbook's."""
    return start.startswith(BEGINS) and start[30:].startswith(OF_WORKBOOKS)


def unpack(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of each file, in their order; folders and files that systems leave beside are left out.

    One is in memory at a time, and nothing is written anywhere.

    Raises:
        BadArchive: it is broken, locked, or unpacks to more than MAX_FILES or MAX_UNPACKED.
    """
    with open_archive(content, max_files=MAX_FILES, max_unpacked=MAX_UNPACKED) as archive:
        for member in archive.infolist():
            if not member.is_dir() and not is_beside(member.filename):
                yield member.filename, read_member(archive, member)


def is_beside(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
