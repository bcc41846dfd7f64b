"""The draft of a commentary: the largest variances of the month, for the author to explain."""

from collections.abc import Iterable, Sequence

from analytics.reports.monthly_report_tables import ReportRow, ReportTable, Text

TABLES = ("variances", "changes")  # the first that has rows


def draft_commentary(tables: Iterable[ReportTable]) -> str:
    """Return a list in the format of commentaries, with the figures of each row; empty if there are none.

    >>> from analytics.reports.monthly_report_tables import ReportCell, ReportRow
    >>> row = ReportRow("Rent", [ReportCell("−900.00"), ReportCell("−800.00")])
    >>> draft_commentary([ReportTable("variances", "", ["Category", "Actual", "Plan"], [row])])
    '- **Rent**: Actual −900.00, Plan −800.00. '
    """
    rows_by_table = {table.id: (table.head[1:], table.rows) for table in tables}
    for table_id in TABLES:
        head, rows = rows_by_table.get(table_id, ((), ()))
        if rows:
            return "\n".join(draft_line(row, head) for row in rows if row.kind != "detail")
    return ""


def draft_line(row: ReportRow, head: Sequence[Text]) -> str:
    figures = ", ".join(f"{name} {cell.text}" for name, cell in zip(head, row.cells, strict=True))
    return f"- **{row.label}**: {figures}. "
