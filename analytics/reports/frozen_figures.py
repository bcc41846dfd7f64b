"""The figures of a closing as tables: what was reported, whatever the books say now."""

from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _

from analytics.queries.monthly_report import ReportMonth
from analytics.queries.monthly_rows import ROW_FIELDS
from analytics.reports.monthly_report_cash import ROW_LABELS
from analytics.reports.monthly_report_tables import CellFormatter, ReportRow, ReportTable
from analytics.reports.profit_and_loss_table import format_category_name
from ledger.closings.calc.figures import Figure
from ledger.models import EXPENSE_LINES, Account, Category, PlType, RecurringRevenueMonth
from ledger.transactions.pages.labels import LINE_LABELS, SUBTOTAL_LABELS

ZERO = Decimal(0)


def build_frozen_tables(report: ReportMonth) -> list[ReportTable]:
    """Build the tables of the report's closing: profit and loss, accounts, and recurring revenue."""
    closing = report.closing
    figures = [Figure.from_json(each) for each in closing.figures] if closing else []
    return [
        build_frozen_result_table(report, [each for each in figures if each.key.figure == "profitAndLoss"]),
        build_account_table(report, [each for each in figures if each.key.account_id]),
        build_frozen_recurring_table(report, [each for each in figures if each.key.figure == "recurringRevenue"]),
    ]


def build_frozen_result_table(report: ReportMonth, figures: Sequence[Figure]) -> ReportTable:
    """Build lines with their categories, and the sums after them."""
    cells = CellFormatter(report)
    ids = [UUID(figure.key.category_id) for figure in figures]
    names = dict(Category.objects.for_company(report.company.id).filter(id__in=ids).values_list("id", "name"))
    rows, remainder = list[ReportRow](), ZERO
    for line in PlType:
        line_figures = [figure for figure in figures if figure.key.pl_type == line]
        sign = -1 if line in EXPENSE_LINES else 1
        total = sign * sum((figure.value for figure in line_figures), start=ZERO)
        if line_figures:
            rows.append(ReportRow(LINE_LABELS[line], [cells.format_amount(total)], "line"))
        for figure in line_figures:
            name = format_category_name(names.get(UUID(figure.key.category_id), ""))
            rows.append(ReportRow(name, [cells.format_amount(sign * figure.value)], "category"))
        if line != PlType.NEUTRAL:
            remainder += total
        if line in SUBTOTAL_LABELS:
            rows.append(ReportRow(SUBTOTAL_LABELS[line], [cells.format_amount(remainder)], "sum"))
    return ReportTable(
        id="results",
        title=_("Profit and loss"),
        head=[_("Line"), _("As reported")],
        rows=rows,
        hint=_("Income is positive, costs are negative."),
    )


def build_account_table(report: ReportMonth, figures: Sequence[Figure]) -> ReportTable:
    """Build balance, inflow and outflow of each account."""
    cells = CellFormatter(report)
    values = {(str(figure.key.account_id), figure.key.figure): figure.value for figure in figures}
    ids = [UUID(account_id) for account_id in dict.fromkeys(account_id for account_id, _figure in values)]
    names = dict(Account.objects.for_company(report.company.id).filter(id__in=ids).values_list("id", "name"))
    kinds = ("inflow", "outflow", "balance")
    rows = [
        ReportRow(
            names.get(account_id, _("a deleted account")),
            [cells.format_amount(values.get((str(account_id), kind), ZERO)) for kind in kinds],
        )
        for account_id in ids
    ]
    totals = [
        sum((amount for (_account, name), amount in values.items() if name == kind), start=ZERO) for kind in kinds
    ]
    if rows:
        rows.append(ReportRow(_("Total"), [cells.format_amount(total) for total in totals], "sum"))
    return ReportTable(
        id="cash",
        title=_("Accounts"),
        head=[_("Account"), _("Inflow"), _("Outflow"), _("Balance")],
        rows=rows,
        empty_text=_("No account had transactions."),
    )


def build_frozen_recurring_table(report: ReportMonth, figures: Sequence[Figure]) -> ReportTable:
    """Build the movements of MRR and committed MRR."""
    cells = CellFormatter(report)
    values = {(figure.key.mrr_type, figure.key.movement): figure.value for figure in figures}
    rows = [
        ReportRow(
            ROW_LABELS[name],
            [cells.format_amount(values.get((basis, name), ZERO)) for basis in RecurringRevenueMonth.BASES],
            "sum" if name in ("start", "end") else "",
        )
        for name in ROW_FIELDS
    ]
    return ReportTable(
        id="recurring",
        title=_("Recurring revenue bridge"),
        head=[_("Step"), "MRR", _("Committed MRR")],
        rows=rows if figures else [],
        hint=_("Committed MRR includes signed changes that are not yet in effect."),
        empty_text=_("There were no subscriptions."),
    )
