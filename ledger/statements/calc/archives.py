"""The files of an archive, as long as they unpack to what an archive of statements can be. No database."""

import io
import zipfile
from collections.abc import Iterator

BEGINS = b"PK\x03\x04"
MAX_FILES = 1000
MAX_UNPACKED = 256 * 1024 * 1024  # bytes of all files together
MAX_RATIO = 200  # unpacked bytes for one packed byte; more is made to fill memory
OF_WORKBOOKS = (b"[Content_Types].xml", b"xl/", b"_rels/", b"docProps/")


class NotAnArchive(ValueError):
    """The archive cannot be unpacked: ``why`` says so to people, with ``values`` in its braces."""

    def __init__(self, why: str, **values: str | int):
        self.why, self.values = why, values
        super().__init__(why.format(**values))


def is_workbook(start: bytes) -> bool:
    """Whether the first file of an archive is one of a workbook's."""
    return start.startswith(BEGINS) and start[30:].startswith(OF_WORKBOOKS)


def unpack(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of each file, in their order; folders and files that systems leave beside are left out.

    One is in memory at a time.

    Raises:
        NotAnArchive: it is broken, locked, or unpacks to more than MAX_UNPACKED.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = [each for each in archive.infolist() if not each.is_dir() and not is_beside(each.filename)]
            unpacked = sum(each.file_size for each in members)
            if len(members) > MAX_FILES or unpacked > min(MAX_UNPACKED, MAX_RATIO * len(content)):
                raise NotAnArchive("The archive has more in it than statements have.")
            for each in members:
                yield each.filename, archive.read(each)
    except NotAnArchive:
        raise
    except (zipfile.BadZipFile, RuntimeError, ValueError, OSError, EOFError, NotImplementedError) as error:
        raise NotAnArchive("The archive is broken, or locked with a password.") from error


def is_beside(name: str) -> bool:
    return name.startswith("__MACOSX/") or name.rpartition("/")[2].startswith(".")
