"""The review of an imported plan: to which category each row goes, and which amounts would change."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

from django.utils import translation
from django.utils.translation import gettext as _

from companies.errors import DomainError, ValidationFailed
from companies.locales import LANGUAGES
from companies.models import Company, generate_id
from companies.names import build_name
from companies.pages.context import CompanyPage, get_error_message
from companies.pages.csv_escaping import restore_escaped_text
from companies.permissions import Permission
from ledger.imports.calc.amounts import DecimalMark
from ledger.imports.calc.column_mapping import fold_setting_value
from ledger.imports.table_items import describe_reader_error
from ledger.models import Category, PlType, translate_category_name
from ledger.money.calc.fx import RateTable
from ledger.money.calc.money import round_half_up
from ledger.rules.calc.kind_categories import find_line_of_name, is_wider_name
from ledger.rules.calc.payment_kinds import extract_kind_words
from ledger.transactions.pages.labels import (
    LINE_LABELS,
    SUBTOTAL_LABELS,
    LedgerNames,
    format_line_choice,
    load_visible_names,
)
from planning.forecast.queries import ResultKey
from planning.plan.actions.grid_changes import PlanCell, PlanRow, sum_planned_amounts
from planning.plan.calc.plan_sections import PlacedRow, PlanRowNames, place_plan_rows
from planning.plan.calc.plan_table import PlanTable, PlanTableRow, read_plan_rows
from planning.plan.pages.amount_texts import apply_shown_sign, parse_shown_text
from planning.plan.pages.grid_input import build_cell_pointer
from planning.plan.pages.plan_grid import list_plan_rows

LEAVE_OUT = "leaveOut"  # choices of a row, besides those of `format_line_choice`
NEW_CATEGORY = {f"new:{line}": line for line in LINE_LABELS if line != PlType.NEUTRAL}
MAX_ERRORS_SHOWN = 100
ZERO = Decimal(0)


@dataclass(slots=True)
class ReviewRow:
    """A row of the file. `choice` is where its amounts go, empty if undecided; `target` its row of the plan."""

    placed: PlacedRow
    can_create: bool = False
    choice: str = ""
    target: PlanRow | None = None
    error: str = ""
    cells: list[dict[str, Any] | None] = field(default_factory=list)

    @property
    def line(self) -> int:
        return self.placed.row.line

    @property
    def name(self) -> str:
        return self.placed.row.name

    @property
    def field_name(self) -> str:
        return f"row{self.line}"


@dataclass(slots=True)
class PlanReview:
    """What an import would change: `cells` to save, `categories` to create, and names of rows that are left out.

    `groups` are the rows of the plan as choices, by P&L line. `plan_digest` differs if the plan has other amounts.
    """

    months: list[date]
    rows: list[ReviewRow]
    left_out_names: list[str]
    groups: list[tuple[Any, list[tuple[str, str]]]]
    plan_digest: str
    cells: list[PlanCell] = field(default_factory=list)
    categories: list[Category] = field(default_factory=list)
    error: str = ""

    @property
    def is_complete(self) -> bool:
        return all(row.choice and not row.error for row in self.rows)

    @property
    def summary(self) -> list[tuple[str, int]]:
        left_out = len(self.left_out_names) + sum(row.choice == LEAVE_OUT for row in self.rows)
        counts = [
            (_("Amounts that change"), len(self.cells)),
            (_("New categories"), len(self.categories)),
            (_("Rows left out"), left_out),
            (_("Rows without category"), sum(not row.choice for row in self.rows)),
        ]
        return counts if counts[-1][1] else counts[:-1]

    def add_error(self, error: DomainError) -> None:
        """Show the error of an import above the table."""
        self.error = get_error_message(error)


def build_plan_review(
    page: CompanyPage, table: PlanTable, *, decimal_mark: DecimalMark, choices: Mapping[str, str], rates: RateTable
) -> PlanReview:
    """Build the review of a plan.

    Args:
        choices: posted choices of rows by their field; others have what the file proves.

    Raises:
        ValidationFailed: a cell cannot be read.
        MissingRateError: a currency has no exchange rate.
    """
    rows, faults = read_plan_rows(table, decimal_mark, page.company.base_currency)
    if faults:
        text = _("Line {line}, {name}, column {column}: {reason}")
        details = [
            text.format(line=line, name=name or "–", column=heading, reason=describe_reader_error(error))
            for line, name, heading, error in faults[:MAX_ERRORS_SHOWN]
        ]
        raise ValidationFailed([("#/rows", "invalid_value", detail) for detail in details])
    months, names = list(table.months.values()), load_visible_names(page)
    planned = sum_planned_amounts(page.company, months[0], months[-1], rates)
    plan_rows = list_plan_rows(names, planned)
    row_names = build_row_names(names)
    unescaped_rows = [PlanTableRow(line, restore_escaped_text(name), amounts) for line, name, amounts in rows]
    placed_rows = place_plan_rows(unescaped_rows, row_names)
    review = PlanReview(
        months,
        [ReviewRow(placed) for placed in placed_rows if not placed.is_left_out],
        [placed.row.name for placed in placed_rows if placed.is_left_out],
        group_plan_rows(plan_rows, names),
        build_plan_digest(planned),
    )
    rows_by_choice = {format_line_choice(row.category_id, row.pl_type): row for row in plan_rows}
    can_create = page.has_permission(Permission.CATEGORIES_WRITE)
    wider_choices = find_wider_choices(review.rows, rows_by_choice, names, row_names)
    for row in review.rows:
        row.can_create = can_create and fold_setting_value(row.name) not in row_names.categories
        suggested = wider_choices.get(row.line) or suggest_choice(row, rows_by_choice, row_names)
        row.choice = choices.get(row.field_name, suggested)
        if row.choice in rows_by_choice:
            row.target = rows_by_choice[row.choice]
        elif row.choice in NEW_CATEGORY and row.can_create:
            row.target = PlanRow(NEW_CATEGORY[row.choice].value, add_new_category(review, row, page.company).id)
        elif row.choice != LEAVE_OUT:
            row.choice = ""
    add_cells(review, planned, currency=page.company.base_currency)
    return review


def build_plan_digest(planned: Mapping[ResultKey, Decimal]) -> str:
    """Return a text that differs if one of these amounts of the plan does; zero is the same as none."""
    amounts = sorted(
        (str(month), line, str(category_id), f"{amount.normalize():f}")
        for (month, line, category_id), amount in planned.items()
        if amount
    )
    return hashlib.sha256(repr(amounts).encode()).hexdigest()


def build_row_names(names: LedgerNames) -> PlanRowNames:
    """Return the names that rows may have in any language: of P&L lines, subtotals and categories."""
    row_names = PlanRowNames()
    for language in ("en", *LANGUAGES):
        with translation.override(language):
            row_names.lines.update({fold_setting_value(str(label)): line.value for line, label in LINE_LABELS.items()})
            row_names.subtotals.update(fold_setting_value(str(label)) for label in SUBTOTAL_LABELS.values())
            for category in names.categories.values():
                for name in (category.name, category.display_name, translate_category_name(category.name)):
                    row_names.categories.setdefault(fold_setting_value(name), set()).add(category.id)
    return row_names


def group_plan_rows(plan_rows: Iterable[PlanRow], names: LedgerNames) -> list[tuple[Any, list[tuple[str, str]]]]:
    """Return the rows of the plan as choices, by P&L line."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for row in plan_rows:
        choice = format_line_choice(row.category_id, row.pl_type), names.get_category_name(row.category_id)
        groups.setdefault(row.pl_type, []).append(choice)
    return [(LINE_LABELS[PlType(line)], choices) for line, choices in groups.items()]


def find_wider_choices(
    rows: Sequence[ReviewRow], rows_by_choice: Mapping[str, PlanRow], names: LedgerNames, row_names: PlanRowNames
) -> dict[int, str]:
    """Return choices by line of the file, for rows with a name that exactly one of the company's own categories
    contains: "Beratung und Dienstleistungen" for "Beratung". A category is for one row.
    """
    row_words = [extract_kind_words(row.name) for row in rows]
    free_words = {
        choice: words
        for choice, target in rows_by_choice.items()
        if (category := names.categories.get(target.category_id))
        and not category.system_key
        and (words := extract_kind_words(category.display_name)) not in row_words
    }
    known_names = row_names.categories.keys() | row_names.lines.keys() | row_names.subtotals
    choice_by_line: dict[int, str] = {}
    for row, phrase in zip(rows, row_words, strict=True):
        if fold_setting_value(row.name) in known_names:
            continue
        matches = [
            choice
            for choice, words in free_words.items()
            if row.placed.line in ("", rows_by_choice[choice].pl_type) and is_wider_name(words, phrase)
        ]
        if len(matches) == 1:
            choice_by_line[row.line] = matches[0]
            del free_words[matches[0]]
    return choice_by_line


def suggest_choice(row: ReviewRow, rows_by_choice: Mapping[str, PlanRow], row_names: PlanRowNames) -> str:
    """Return the choice that the section and the name of a row suggest; empty if they suggest none.

    A new category is suggested on the line of its section, else where companies have a category of its name.
    """
    name, line = fold_setting_value(row.name), row.placed.line
    if row.can_create:
        new_choice = f"new:{line or find_line_of_name(row.name)}"
        return new_choice if new_choice in NEW_CATEGORY else ""
    if not line and (name in row_names.lines or name in row_names.subtotals):
        return ""  # a heading may have the name of a category
    category_ids = row_names.categories.get(name, set())
    matches = [
        choice
        for choice, target in rows_by_choice.items()
        if target.category_id in category_ids and line in ("", target.pl_type)
    ]
    return matches[0] if len(matches) == 1 else ""


def add_new_category(review: PlanReview, row: ReviewRow, company: Company) -> Category:
    """Return the new category of a row, which rows of one name share, each with its P&L line."""
    name = build_name(" ".join(row.name.split()))
    folded, line = fold_setting_value(name), NEW_CATEGORY[row.choice]
    category = next((each for each in review.categories if fold_setting_value(each.name) == folded), None)
    if category is None:
        category = Category(id=generate_id(), company=company, name=name, pl_types=[])
        review.categories.append(category)
    lines = {*category.pl_types, line}
    category.pl_types = [each.value for each in PlType if each in lines]
    return category


def add_cells(review: PlanReview, planned: Mapping[ResultKey, Decimal], *, currency: str) -> None:
    """Add the amounts of each row, and to the review those that change. Rows with the same amounts get an error."""
    rows_by_key: dict[ResultKey, ReviewRow] = {}
    for row in review.rows:
        for month in review.months:
            written = row.placed.row.amounts.get(month)
            if written is None or row.target is None:
                row.cells.append(written and {"amount": written.amount})
                continue
            line = row.target.pl_type
            key = month, line, row.target.category_id
            is_income = written.has_plus or (row.placed.is_signed and written.amount > 0)
            text = f"{written.amount:+f}" if is_income else f"{written.amount:f}"
            amount = Decimal(parse_shown_text(text, line, currency)) or ZERO
            previous = round_half_up(planned.get(key, ZERO), currency)
            shown_amounts = {"amount": apply_shown_sign(line, amount), "previous": apply_shown_sign(line, previous)}
            row.cells.append(shown_amounts | {"changes": amount != previous})
            if amount != previous:
                review.cells.append(PlanCell(row.target, month, amount, previous, build_cell_pointer(key)))
            if (other := rows_by_key.setdefault(key, row)) is not row:
                text = _("Lines {first} and {second} have the same category and month: “{name}” and “{other}”.")
                row.error = other.error = text.format(
                    first=other.line, second=row.line, name=other.name, other=row.name
                )
