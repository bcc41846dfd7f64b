"""Pages of the import of a plan: upload or paste a table, review what it would change, and import it."""

from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from companies.errors import DomainError, InvalidInputError, ValidationFailed
from companies.locales import get_current_locale
from companies.pages.amount_formats import format_count
from companies.pages.context import CompanyPage, company_page, get_error_message
from companies.pages.sheets import SheetStyle, get_sheet_style
from companies.permissions import Permission
from companies.uploaded_files import find_uploaded_file
from ledger.calc.delimited_text import MalformedTable
from ledger.imports.actions import uploads
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.named_columns import find_amount
from ledger.imports.file_errors import UnreadableTable
from ledger.imports.pages.table_uploads import describe_upload_error, store_posted_table
from ledger.imports.pages.uploaded_files import get_upload_owner
from ledger.imports.row_errors import check_row_widths, check_rows_exist
from ledger.imports.table_items import describe_reader_error, read_uploaded_table
from ledger.money.rates import get_rate_table
from ledger.transactions.pages.labels import LINE_LABELS
from planning.plan.actions.plan_import import import_plan
from planning.plan.calc.plan_table import MAX_MONTHS, MAX_ROWS, PlanTable, find_plan_table
from planning.plan.pages.plan import TAB, redirect_to_plan
from planning.plan.pages.plan_grid import FIRST_MONTH, get_last_start_month
from planning.plan.pages.plan_import_review import LEAVE_OUT, NEW_CATEGORY, PlanReview, build_plan_review

MARK_READINGS = {
    DecimalMark.POINT: gettext_lazy("Decimal point: “{text}” is {amount}"),
    DecimalMark.COMMA: gettext_lazy("Decimal comma: “{text}” is {amount}"),
}


class FileAndText(InvalidInputError):
    """Choose a file or paste cells, not both."""

    code = "file_and_text"


@company_page(
    reads=Permission.PLANNING_WRITE,
    writes=Permission.PLANNING_WRITE,
    reads_also=[Permission.CATEGORIES_READ],
    uploads=True,
)
def upload_plan_page(page: CompanyPage) -> HttpResponse:
    """Show the upload form; a POST stores the table and leads to its review."""
    error, status, text = "", 200, page.request.POST.get("cells", "")
    pasted_text = text.strip("\r\n") if text.strip() else ""  # the first cell may be empty
    if page.is_post:
        try:
            if pasted_text and find_uploaded_file(page.request.FILES):
                raise FileAndText
            upload_id, name = store_posted_table(
                page, check=lambda content: read_plan_table(page, content), pasted_text=pasted_text
            )
            path = reverse("plan-import-check", args=[page.company.id, upload_id])
            return redirect(f"{path}?{urlencode({'name': name})}")
        except DomainError as problem:
            error, status = describe_upload_error(problem)
    return page.render(
        "planning/plan/import.html",
        status=status,
        tab=TAB,
        error=error,
        text=text,
        most=settings.MAX_UPLOAD_MB,
        most_rows=MAX_ROWS,
        most_months=MAX_MONTHS,
    )


def read_plan_table(page: CompanyPage, content: bytes) -> PlanTable:
    """Return the table of a plan. Raises DomainError if it is none."""
    is_pasted = b"\t" in content.partition(b"\n")[0]  # from a spreadsheet: its amounts may have more commas than tabs
    lines = read_uploaded_table(content, {"separator": "\t"} if is_pasted else None)
    try:
        table = find_plan_table(lines)
    except MalformedTable as error:
        raise UnreadableTable(describe_reader_error(error)) from None
    check_rows_exist(table)
    check_row_widths(table, content)
    last = get_last_start_month(page.today)
    if not all(FIRST_MONTH <= month.replace(month=1) <= last for month in table.months.values()):
        text = _("The plan covers {first} to {last}.")
        raise UnreadableTable(text.format(first=FIRST_MONTH.year, last=last.year))
    return table


@company_page(
    reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE, reads_also=[Permission.CATEGORIES_READ]
)
def review_plan_page(page: CompanyPage, upload_id: UUID) -> HttpResponse:
    """Show what the plan would change; a POST imports it with its choices, or shows again what is unclear."""
    owner = get_upload_owner(page)
    try:
        table = read_plan_table(page, uploads.read_upload(**owner, upload_id=upload_id))
        decimal_mark = choose_decimal_mark(table, page.request.GET.get("decimalMark", ""))
        if decimal_mark is None:
            return render_question(page, table)
        review = build_review(page, table, decimal_mark)
        if page.is_post and is_confirmed(page, review):
            with page.handle_errors(review):
                import_plan(
                    company=page.company,
                    context=page.audit_context,
                    categories=review.categories,
                    cells=review.cells,
                    rates=get_rate_table(),
                )
                uploads.delete_upload(**owner, upload_id=upload_id)
                messages.success(page.request, build_imported_message(review))
                return redirect_to_plan(page, review.months[0].replace(month=1))
            return render_review(page, table, build_review(page, table, decimal_mark), error=review.error)
    except uploads.UploadExpired as expired:
        return page.redirect_with_message(expired.detail, "plan-import")
    except DomainError as error:
        details = [detail for _, _, detail in error.errors] if isinstance(error, ValidationFailed) else []
        return render_check(page, status=400, row_errors=details, error="" if details else get_error_message(error))
    return render_review(page, table, review)


def choose_decimal_mark(table: PlanTable, chosen: str) -> DecimalMark | None:
    """Return the chosen decimal mark, else the one that the amounts prove; None if they prove none."""
    if chosen in list(DecimalMark):
        return DecimalMark(chosen)
    marks = table.find_decimal_marks()
    return marks[0] if len(marks) == 1 else None


def build_review(page: CompanyPage, table: PlanTable, decimal_mark: DecimalMark) -> PlanReview:
    return build_plan_review(
        page, table, decimal_mark=decimal_mark, choices=page.request.POST.dict(), rates=get_rate_table()
    )


def is_confirmed(page: CompanyPage, review: PlanReview) -> bool:
    """Whether each row has a choice, and the plan has the amounts that the review showed."""
    return review.is_complete and page.request.POST.get("reviewed") == review.plan_digest


def build_imported_message(review: PlanReview) -> str:
    count = len(review.cells)
    if not (count or review.categories):
        return _("The plan has these amounts already.")
    return ngettext("{count} amount imported.", "{count} amounts imported.", count).format(count=format_count(count))


def render_question(page: CompanyPage, table: PlanTable) -> HttpResponse:
    """Ask which decimal mark the amounts have."""
    text, readings = table.find_ambiguous_text(), list[tuple[str, str]]()
    for decimal_mark, label in MARK_READINGS.items():
        amount = find_amount(text, decimal_mark)
        shown = get_current_locale().format_number(amount) if amount is not None else "–"
        readings.append((decimal_mark.value, label.format(text=text[:40], amount=shown)))
    return render_check(page, readings=readings)


def render_review(page: CompanyPage, table: PlanTable, review: PlanReview, *, error: str = "") -> HttpResponse:
    """Render a review. Rows without a choice have an error once the form was sent."""
    notice = ""
    if page.is_post:
        for row in review.rows:
            row.error = row.error or ("" if row.choice else _("Choose a category or leave out the row."))
        changed_text = _("The plan has changed. Review the amounts, then import.")
        notice = changed_text if review.is_complete and not error else ""
    return render_check(
        page,
        status=400 if error or any(row.error for row in review.rows) else 200,
        error=error,
        notice=notice,
        review=review,
        months=[get_current_locale().format_month(month) for month in review.months],
        unused_columns=table.unused_headings,
        new_choices=[(value, LINE_LABELS[line]) for value, line in NEW_CATEGORY.items()],
        leave_out=LEAVE_OUT,
        style=SheetStyle("cents", get_sheet_style(page.request).negative),
    )


def render_check(page: CompanyPage, *, status: int = 200, **context: object) -> HttpResponse:
    return page.render(
        "planning/plan/import_check.html",
        status=status,
        tab=TAB,
        name=page.request.GET.get("name", ""),
        upload_url=reverse("plan-import", args=[page.company.id]),
        **context,
    )
