"""ZIP archives that somebody sent, opened only where what is in them stays within bounds. No database."""

import io
import zipfile

ZIP_BEGINS = b"PK\x03\x04"
OLE_SIGNATURE = b"\xd0\xcf\x11\xe0"  # of .xls and .doc, and of every workbook with a password
MAX_RATIO = 200  # unpacked bytes for one packed byte; more is made to fill memory
MAX_NAME_BYTES = 1024  # of a file in the directory, with what stands beside its name
DIRECTORY_END = b"PK\x05\x06"
MAX_END_BYTES = 22 + 65_535  # of the directory's end with its comment
WIDE_END = b"PK\x06\x07"  # stands before the directory's end in archives with 8-byte sizes
WORKBOOK_NAMES = (b"[Content_Types].xml", b"xl/", b"_rels/", b"docProps/", b"customXml/")
METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # others may ask for gigabytes to unpack a byte


class BadArchive(ValueError):
    """The archive cannot be unpacked: ``message`` says why, with ``values`` in its braces."""

    def __init__(self, message: str, **values: str | int):
        self.message, self.values = message, values
        super().__init__(message.format(**values))


class LargeArchive(BadArchive):
    """The archive unpacks to more than is read."""


def is_workbook_archive(start: bytes) -> bool:
    """Whether the first file of an archive belongs to a workbook."""
    return start.startswith(ZIP_BEGINS) and start[30:].startswith(WORKBOOK_NAMES)


def build_broken_archive_error() -> BadArchive:
    return BadArchive("The archive is broken. Create it again.")


def open_archive(content: bytes, *, max_files: int, max_unpacked: int) -> zipfile.ZipFile:
    """Return an archive after a look at its directory alone.

    Args:
        max_unpacked: bytes that all its files together may have.

    Raises:
        BadArchive: it is broken or locked with a password, has too many files, or unpacks to too many bytes.
    """
    if measure_directory(content) > max_files * MAX_NAME_BYTES:
        raise BadArchive("The archive has more than {most} files. Send fewer at once.", most=max_files)
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise build_broken_archive_error() from error
    members = archive.infolist()
    if len(members) > max_files:
        raise BadArchive("The archive has {count} files; at most {most} are read.", count=len(members), most=max_files)
    if any(member.flag_bits & 1 for member in members):
        raise BadArchive("The archive is locked with a password. Unpack it and send its files.")
    if any(member.compress_type not in METHODS for member in members):
        raise BadArchive("The archive is compressed in an unusual way. Create it again as an ordinary ZIP file.")
    unpacked = sum(member.file_size for member in members)
    if unpacked > min(max_unpacked, MAX_RATIO * len(content)):
        raise LargeArchive("The archive is too large: {size} MB unpacked.", size=unpacked // 1_000_000)
    return archive


def measure_directory(content: bytes) -> int:
    """Return the bytes of an archive's directory, as its end says: opening it takes several times their memory.

    Raises:
        BadArchive: the archive has no end.
    """
    end = content.rfind(DIRECTORY_END, max(0, len(content) - MAX_END_BYTES))
    if end < 0:
        raise build_broken_archive_error()
    size = content[end + 12 : end + 16]
    if content[max(end - 20, 0) : max(end - 16, 0)] == WIDE_END:
        size = content[end - 36 : end - 28]
    return int.from_bytes(size, "little")


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return one file's bytes. Raises BadArchive."""
    try:
        return archive.read(member)
    except (zipfile.BadZipFile, RuntimeError, ValueError, OSError, EOFError, NotImplementedError) as error:
        raise build_broken_archive_error() from error
