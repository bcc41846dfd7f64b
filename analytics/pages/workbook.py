"""The profit and loss statement as a workbook: a sheet of what was, one of the plan, one of what it is compared with.

Amounts of categories are numbers; lines, sums and totals are formulas over them, with what they come to.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import IO, Any

import xlsxwriter
from django.utils.translation import gettext as _
from xlsxwriter.utility import xl_range, xl_rowcol_to_cell

from analytics.pages.statement import Amounts, Row, Statement
from companies.pages.downloads import harmless
from ledger.calc.money import minor_units

FIRST = 1  # row and column of the first amount
LONGEST_NAME, LONGEST_AMOUNT = 36, 14  # widths in letters
Picked = Callable[[Amounts], Decimal]


def write_workbook(file: IO[bytes], found: Statement) -> None:
    """Of a statement, compared or not."""
    sheets: list[tuple[str, Sequence[str], Picked]] = [
        (_("Actual"), found.head, lambda cell: cell.actual),
        (_("Plan"), found.head, lambda cell: cell.planned),
    ]
    if any(cell.compared is not None for row in found.rows for cell in row.cells):
        sheets.append((_("Before"), found.before, lambda cell: cell.compared or Decimal(0)))
    with xlsxwriter.Workbook(file) as book:
        for name, head, picked in sheets:
            sheet = book.add_worksheet(name)
            sheet.set_column(0, 0, LONGEST_NAME)
            sheet.set_column(FIRST, FIRST + len(found.head), LONGEST_AMOUNT)
            sheet.freeze_panes(FIRST, FIRST)
            sheet.write_row(0, 0, [_("Line"), *head, _("Together")], book.add_format({"bold": True}))
            decimals = "0" * minor_units(found.currency)
            shape = {"num_format": f"#,##0.{decimals}" if decimals else "#,##0"}
            styles = {kind: book.add_format(shape | {"bold": kind != "category"}) for kind in KINDS}
            for line in lines(found.rows):
                write_line(sheet, line, picked, style=styles[line.row.kind])


KINDS = ("line", "category", "sum")


@dataclass
class Line:
    """A row with its place; ``above`` are the rows that it adds up, each with whether it is taken off."""

    place: int
    row: Row
    categories: list[int] = field(default_factory=list)
    above: list[tuple[int, bool]] = field(default_factory=list)

    def formula(self, column: int) -> str:
        """What a cell of a line or a sum is made of.

        >>> Line(9, Row("Gross profit", "sum", []), above=[(1, False), (4, True)]).formula(1)
        '=0+B2-B5'
        >>> Line(1, Row("Revenue", "line", []), categories=[2, 3]).formula(1)
        '=SUM(B3:B4)'
        """
        if self.row.kind == "line":
            return f"=SUM({xl_range(self.categories[0], column, self.categories[-1], column)})"
        return "=0" + "".join(f"{'-' if off else '+'}{xl_rowcol_to_cell(place, column)}" for place, off in self.above)


def lines(rows: Sequence[Row]) -> Iterator[Line]:
    """Lines know their categories, which follow them; a sum adds the lines since the one before, and that one."""
    above: list[tuple[int, bool]] = []
    for place, row in enumerate(rows, start=FIRST):
        line = Line(place, row)
        if row.kind == "line":
            above.append((place, row.taken_off))
            behind = [n for n, other in enumerate(rows, start=FIRST) if n > place and other.kind != "category"]
            line.categories = list(range(place + 1, behind[0] if behind else FIRST + len(rows)))
        elif row.kind == "sum":
            line.above, above = above, [(place, False)]
        yield line


def write_line(sheet: Any, line: Line, picked: Picked, *, style: Any) -> None:
    sheet.write_string(line.place, 0, named(line.row.name), style)
    for column, cell in enumerate(line.row.cells, start=FIRST):
        if line.row.kind == "category":
            sheet.write_number(line.place, column, picked(cell), style)
        else:
            sheet.write_formula(line.place, column, line.formula(column), style, picked(cell))
    last = FIRST + len(line.row.cells)
    across = f"=SUM({xl_range(line.place, FIRST, line.place, last - 1)})" if line.row.cells else "=0"
    sheet.write_formula(line.place, last, across, style, total(line.row, picked))


def named(name: str) -> str:
    """Harmless for spreadsheets, and for XlsxWriter, which takes what stands from <r> to </r> for mark-up of its own.

    >>> named("=Extra"), named("<r>&</r>")
    ("'=Extra", "'<r>&</r>")
    """
    return f"'{name}" if name.startswith("<r>") else harmless(name)


def total(row: Row, picked: Picked) -> Decimal:
    return sum(map(picked, row.cells), start=Decimal(0))
