"""The statements in an archive of files."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.translation import gettext as _

from companies.errors import DomainError
from companies.locales import get_current_locale
from ledger.bank_statements.errors import ColumnsUnknown, MappingAmbiguous, StatementFormatUnknown
from ledger.bank_statements.parsers import archives, formats
from ledger.bank_statements.parsers.models import ParsedStatement, clean_text
from ledger.calc.zip_files import OLE_SIGNATURE, BadArchive
from ledger.files.content_type import UnsafeXml
from ledger.imports.calc.entry_matcher import get_format_family
from ledger.imports.calc.table import is_data_row
from ledger.imports.file_errors import TooManyRows
from ledger.imports.import_body import MAX_IMPORT_ITEMS
from ledger.imports.table_items import describe_reader_error, read_uploaded_table

LONGEST_NAME = 60  # of a file in an archive, as it is shown
NAMES_OF_TABLES = (".csv", ".tsv", ".xlsx", ".xlsm")


@dataclass(frozen=True, slots=True)
class StatementFileContent:
    """A file's format and statements; of QIF the order in which its dates were read."""

    format: str
    statements: list[ParsedStatement]
    date_order: str | None = None
    left_out: int = 0  # rows of a table that are no movements of the account
    left_out_files: list[str] = field(default_factory=list)  # of an archive, that are no statements


def read_archive(
    content: bytes, read_file: Callable[[str | None, bytes], StatementFileContent]
) -> StatementFileContent:
    """The statements of all files in an archive, as one import. What is plainly no statement is left out.

    Raises what ``read_file`` raises, with the name of the file; MappingAmbiguous with the questions of all its files.
    """
    archive = ArchiveReader(read_file)
    try:
        for name, member in archives.unpack_archive(content):
            archive.read(clean_text(name)[-LONGEST_NAME:], member)
    except BadArchive as error:
        raise StatementFormatUnknown(describe_reader_error(error)) from None
    return archive.join()


class ArchiveReader:
    """Reads the files of an archive one by one; ``read_file`` takes a file's kind and its bytes."""

    def __init__(self, read_file: Callable[[str | None, bytes], StatementFileContent]):
        self.read_file = read_file
        self.files: list[StatementFileContent] = []
        self.left_out: list[str] = []
        self.choices: list[dict[str, Any]] = []

    def read(self, name: str, content: bytes) -> None:
        kind = formats.detect_file_kind(content)
        try:
            if kind == formats.ZIP:
                raise StatementFormatUnknown(_("It is an archive itself. Unpack it and send its files."))
            file = self.read_file(kind, content)
        except MappingAmbiguous as error:
            self.choices += [{**choice, "file": name} for choice in error.extensions["choices"]]
        except DomainError as error:
            if not is_clearly_no_statement(name, kind, content, error):
                error.detail = _("“{name}”: {detail}").format(name=name, detail=error.detail)
                if isinstance(error, ColumnsUnknown):
                    error.file = name
                raise
            self.left_out.append(name)
        else:
            self.add(file)

    def add(self, file: StatementFileContent) -> None:
        statements = [replace(each, file=len(self.files)) for each in file.statements]
        self.files.append(replace(file, statements=statements))
        if sum(len(each.entries) for each in self.list_statements()) > MAX_IMPORT_ITEMS:
            raise build_too_many_entries_error()

    def list_statements(self) -> list[ParsedStatement]:
        return [statement for file in self.files for statement in file.statements]

    def join(self) -> StatementFileContent:
        """All files as one. Raises MappingAmbiguous, StatementFormatUnknown."""
        if self.choices:
            raise MappingAmbiguous(self.choices)
        if not self.files:
            raise StatementFormatUnknown(_("There is no statement in the archive."))
        is_mixed = len({get_format_family(file.format) for file in self.files}) > 1
        return StatementFileContent(
            formats.ZIP if is_mixed else self.files[0].format,
            self.list_statements(),
            next((file.date_order for file in self.files if file.date_order), None),
            sum(file.left_out for file in self.files),
            self.left_out,
        )


def is_clearly_no_statement(name: str, kind: str | None, content: bytes, error: DomainError) -> bool:
    """Whether a file that cannot be read is plainly none: pictures, pages, notes, and tables of headings alone."""
    if (
        kind is None
        or content.startswith(OLE_SIGNATURE)
        or (kind == formats.CAMT and isinstance(error, StatementFormatUnknown))
    ):
        return True
    if isinstance(error, UnsafeXml):
        return name.lower().endswith((".html", ".htm"))
    if kind != formats.CSV or not isinstance(error, (StatementFormatUnknown, ColumnsUnknown)):
        return False
    is_table = name.lower().endswith(NAMES_OF_TABLES)
    try:
        lines = read_uploaded_table(content)
    except DomainError:
        return not is_table
    return len(lines) < 2 if is_table else not any(is_data_row(line.cells) for line in lines)


def build_too_many_entries_error() -> TooManyRows:
    return TooManyRows(
        _("The file has more than {most} entries. Split it.").format(
            most=get_current_locale().format_number(MAX_IMPORT_ITEMS)
        )
    )
