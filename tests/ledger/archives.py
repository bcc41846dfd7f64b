"""Archives and workbooks as people send them."""

import io
import zipfile

from openpyxl import Workbook


def archive(**members):
    """A ZIP archive of files, by name."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return out.getvalue()


def saved(*rows, formats=None, book=None):
    """A workbook's bytes: its rows, and the number formats of cells by their names."""
    book = book or Workbook()
    for row in rows:
        book.active.append(row)
    for name, code in (formats or {}).items():
        book.active[name].number_format = code
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()
