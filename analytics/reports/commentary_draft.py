"""The draft of a commentary: the largest variances of the month with the items behind them."""

import re
from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.queries.largest_changes import MAX_TEXT_LENGTH, list_counterparty_changes
from analytics.reports.monthly_report_results import format_party_name, list_variances, sign_amount
from analytics.reports.monthly_report_sections import MonthlyReport
from analytics.reports.monthly_report_tables import CellFormatter, ReportCell, ReportRow, Text
from companies.direction_marks import DIRECTION_MARKS
from companies.permissions import Permission, Permissions
from ledger.rules.calc.kind_categories import is_salary_category

MAX_ITEMS = 2  # of a row
NO_DIRECTION_MARKS = dict.fromkeys(map(ord, DIRECTION_MARKS))
EMPHASIS_OR_ESCAPE = re.compile(r"[*_\\]")


def draft_commentary(report: MonthlyReport, permissions: Permissions) -> str:
    """Return a list in the format of commentaries: each variance from plan with its cause; empty if there are none.

    Without a plan it lists the changes from the month before. Nobody who gets a salary is named.
    """
    tables = {table.id: table for table in report.tables}
    if tables["variances"].rows:
        table, causes = tables["variances"], describe_variances(report, permissions)
    else:
        table, causes = tables["changes"], describe_changes(tables["changes"].rows)
    rows = [row for row in table.rows if row.kind != "detail"]
    return "\n".join(draft_line(row, table.head[1:], cause) for row, cause in zip(rows, causes, strict=True))


def draft_line(row: ReportRow, head: Sequence[Text], cause: str) -> str:
    figures = ", ".join(f"{name} {cell.text}" for name, cell in zip(head, row.cells, strict=True))
    return f"- **{escape_emphasis(str(row.label))}**: {join_texts(figures, cause)}. "


def describe_variances(report: MonthlyReport, permissions: Permissions) -> list[str]:
    """Return the cause of each variance: its largest items, that nothing was booked, or that nothing was planned."""
    rows = list_variances(report.results)
    if Permission.TRANSACTIONS_READ not in permissions:
        return ["" if row.cells[0].planned else _("not planned") for row in rows]
    keys = [(str(row.line), row.category_id) for row in rows if row.category_id]
    parties = list_counterparty_changes(report.month, keys, previous=None)
    cells, can_show_names = CellFormatter(report.month), Permission.COUNTERPARTIES_READ in permissions
    causes = []
    for row, key in zip(rows, keys, strict=True):
        items = [
            (
                format_party_name(party, can_show_names=can_show_names),
                cells.format_amount(sign_amount(row, party.actual)),
            )
            for party in parties[key]
            if party.actual and party.party_count == 1 and not is_salary_category(row.name)
        ]
        unplanned = "" if row.cells[0].planned else _("not planned")
        causes.append(join_texts(unplanned, join_items(items)) if parties[key] else _("nothing was booked"))
    return causes


def describe_changes(rows: Sequence[ReportRow]) -> list[str]:
    """Return the counterparties that changed most of each row, which stand below it."""
    details = list[list[tuple[Text, ReportCell]]]()
    has_names = True
    for row in rows:
        if row.kind != "detail":
            details.append([])
            has_names = not is_salary_category(str(row.label))
        elif has_names and row.cells[-1].tone:  # none where nothing changed
            details[-1].append((row.label, row.cells[-1]))
    return [join_items(items) for items in details]


def join_items(items: Sequence[tuple[Text, ReportCell]]) -> str:
    """Return the first items, which are the largest, as a part of a sentence; empty if there are none."""
    shown = [f"{format_item_name(str(name))} {cell.text}" for name, cell in items[:MAX_ITEMS]]
    if not shown:
        return ""
    return ngettext("largest item: {items}", "largest items: {items}", len(shown)).format(items=", ".join(shown))


def format_item_name(name: str) -> str:
    """Return the start of a name on one line; direction marks in it would reorder the amounts beside it."""
    return escape_emphasis(" ".join(name.translate(NO_DIRECTION_MARKS).split())[:MAX_TEXT_LENGTH].strip())


def join_texts(*texts: str) -> str:
    return "; ".join(filter(None, texts))


def escape_emphasis(text: str) -> str:
    r"""Return a text that a commentary shows as it is.

    >>> escape_emphasis("PAYPAL *SHOP _1_")
    'PAYPAL \\*SHOP \\_1\\_'
    """
    return EMPHASIS_OR_ESCAPE.sub(r"\\\g<0>", text)
