"""Build ZIP archives and workbooks for import tests."""

import io
import zipfile

from openpyxl import Workbook


def build_zip(**members):
    """Return a ZIP archive of {name: content}."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as zip_file:
        for name, content in members.items():
            zip_file.writestr(name, content)
    return out.getvalue()


def build_xlsx(*rows, formats=None, book=None):
    """Return a workbook with these rows, as bytes; `formats` is {cell: number format}."""
    book = book or Workbook()
    for row in rows:
        book.active.append(row)
    for name, code in (formats or {}).items():
        book.active[name].number_format = code
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
