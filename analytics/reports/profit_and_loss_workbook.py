"""The profit and loss as a workbook: sheets of actual amounts, of the plan, and of the compared period.

Amounts of categories are numbers; lines, sums and totals are formulas with their values.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import IO, Any

import xlsxwriter
from django.utils.translation import gettext as _
from xlsxwriter.utility import xl_range, xl_rowcol_to_cell

from analytics.reports.profit_and_loss_table import CellAmounts, ProfitAndLossTable, StatementRow
from companies.pages.csv_escaping import escape_formulas
from ledger.money.calc.money import get_minor_units

FIRST_CELL_INDEX = 1  # row and column of the first amount
NAME_COLUMN_WIDTH, AMOUNT_COLUMN_WIDTH = 36, 14  # widths in letters
AmountGetter = Callable[[CellAmounts], Decimal]


def write_statement_workbook(file: IO[bytes], table: ProfitAndLossTable) -> None:
    """Write the workbook of a statement."""
    sheets: list[tuple[str, Sequence[str], AmountGetter]] = [
        (_("Actual"), table.head, lambda cell: cell.actual),
        (_("Plan"), table.head, lambda cell: cell.planned),
    ]
    if any(cell.compared is not None for row in table.rows for cell in row.cells):
        sheets.append((_("Comparison"), table.before, lambda cell: cell.compared or Decimal(0)))
    with xlsxwriter.Workbook(file) as book:
        for name, head, get_amount in sheets:
            sheet = book.add_worksheet(name)
            sheet.set_column(0, 0, NAME_COLUMN_WIDTH)
            sheet.set_column(FIRST_CELL_INDEX, FIRST_CELL_INDEX + len(table.head), AMOUNT_COLUMN_WIDTH)
            sheet.freeze_panes(FIRST_CELL_INDEX, FIRST_CELL_INDEX)
            sheet.write_row(0, 0, [_("Line"), *head, _("Total")], book.add_format({"bold": True}))
            decimals = "0" * get_minor_units(table.currency)
            shape = {"num_format": f"#,##0.{decimals}" if decimals else "#,##0"}
            styles = {kind: book.add_format(shape | {"bold": kind != "category"}) for kind in ROW_KINDS}
            for line in iter_workbook_lines(table.rows):
                write_workbook_line(sheet, line, get_amount, style=styles[line.row.kind])


ROW_KINDS = ("line", "category", "sum")


@dataclass
class WorkbookLine:
    """A row with its place; `above` are (place, whether subtracted) of the rows that a sum adds up."""

    place: int
    row: StatementRow
    categories: list[int] = field(default_factory=list)
    above: list[tuple[int, bool]] = field(default_factory=list)

    def formula(self, column: int) -> str:
        """Return the formula of a line's or sum's cell.

        >>> WorkbookLine(9, StatementRow("Gross profit", "sum", []), above=[(1, False), (4, True)]).formula(1)
        '=0+B2-B5'
        >>> WorkbookLine(1, StatementRow("Revenue", "line", []), categories=[2, 3]).formula(1)
        '=SUM(B3:B4)'
        """
        if self.row.kind == "line":
            return f"=SUM({xl_range(self.categories[0], column, self.categories[-1], column)})"
        return "=0" + "".join(f"{'-' if off else '+'}{xl_rowcol_to_cell(place, column)}" for place, off in self.above)


def iter_workbook_lines(rows: Sequence[StatementRow]) -> Iterator[WorkbookLine]:
    """Yield the rows with their places: a line knows its categories, a sum the lines since the sum before."""
    above: list[tuple[int, bool]] = []
    for place, row in enumerate(rows, start=FIRST_CELL_INDEX):
        line = WorkbookLine(place, row)
        if row.kind == "line":
            above.append((place, row.is_subtracted))
            later_places = [
                n for n, other in enumerate(rows, start=FIRST_CELL_INDEX) if n > place and other.kind != "category"
            ]
            line.categories = list(range(place + 1, later_places[0] if later_places else FIRST_CELL_INDEX + len(rows)))
        elif row.kind == "sum":
            line.above, above = above, [(place, False)]
        yield line


def write_workbook_line(sheet: Any, line: WorkbookLine, get_amount: AmountGetter, *, style: Any) -> None:
    sheet.write_string(line.place, 0, sanitize_name(line.row.name), style)
    for column, cell in enumerate(line.row.cells, start=FIRST_CELL_INDEX):
        if line.row.kind == "category":
            sheet.write_number(line.place, column, get_amount(cell), style)
        else:
            sheet.write_formula(line.place, column, line.formula(column), style, get_amount(cell))
    last = FIRST_CELL_INDEX + len(line.row.cells)
    total_formula = f"=SUM({xl_range(line.place, FIRST_CELL_INDEX, line.place, last - 1)})" if line.row.cells else "=0"
    sheet.write_formula(line.place, last, total_formula, style, sum_row(line.row, get_amount))


def sanitize_name(name: str) -> str:
    """Make a name safe for spreadsheets, and for XlsxWriter, which reads <r>…</r> as rich text.

    >>> sanitize_name("=Extra"), sanitize_name("<r>&</r>")
    ("'=Extra", "'<r>&</r>")
    """
    return f"'{name}" if name.startswith("<r>") else escape_formulas(name)


def sum_row(row: StatementRow, get_amount: AmountGetter) -> Decimal:
    return sum(map(get_amount, row.cells), start=Decimal(0))
