"""What is posted from the plan grid: the cells that changed, and the rows to clear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from uuid import UUID

from companies.errors import ValidationFailed
from ledger.calc.months import format_month
from ledger.models import PlType
from ledger.money.amounts import normalize_typed_amount, parse_api_amount
from ledger.money.calc.money import InvalidAmount, parse_amount, round_half_up
from ledger.transactions.pages.labels import format_line_choice, parse_category_choice
from planning.forecast.queries import ResultKey
from planning.plan.actions.grid_changes import PlanCell, PlanRow
from planning.plan.pages.amount_texts import parse_shown_text, round_to_units

ROWS_PER_PAGE = 60  # of a page; with the longest amounts its form is smaller than the allowed size
AMOUNT_SEPARATOR = "_"  # between the amounts of a row
ALL_ROWS = "all"  # the rows of the page, to use their planned transactions
ZERO = Decimal(0)


def build_cell_pointer(key: ResultKey) -> str:
    month, line, category_id = key
    return f"#/{format_line_choice(category_id, line)}/{format_month(month)}"


def parse_cell_pointer(pointer: str) -> ResultKey | None:
    """Return the cell of a JSON pointer; None if the pointer names no cell."""
    parts = pointer.removeprefix("#/").split("/")
    if len(parts) != 2:
        return None
    category_id, line = parse_category_choice(parts[0])
    return date.fromisoformat(f"{parts[1]}-01"), line or "", UUID(category_id)


@dataclass(slots=True)
class GridInput:
    """Posted changes of the grid: cells to save, their texts, errors by pointer, and rows to clear."""

    cells: list[PlanCell] = field(default_factory=list)
    texts: dict[ResultKey, str] = field(default_factory=dict)
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    cleared_rows: list[PlanRow] = field(default_factory=list)

    def raise_if_invalid(self) -> None:
        if self.errors:
            raise ValidationFailed(self.errors)


def parse_grid(post_data: Mapping[str, str], *, months: Sequence[date], currency: str) -> GridInput:
    """Parse the posted grid and return the cells that changed.

    `across` and `clear` name a row to copy from its first change on, or to clear. `use` names a row, or all, to take
    the sums of planned transactions that were shown.
    """
    grid_input = GridInput()
    for row_index in range(ROWS_PER_PAGE):
        row = parse_plan_row(post_data.get(f"row{row_index}", ""))
        if row is None:
            continue
        previous_texts = post_data.get(f"was{row_index}", "").split(AMOUNT_SEPARATOR)
        previous_texts = previous_texts if len(previous_texts) == len(months) else [""] * len(months)
        typed_texts = [post_data.get(f"c{row_index}-{number}", "").strip() for number in range(len(months))]
        texts = parse_shown_texts(typed_texts, previous_texts, row, currency, is_rounded="rounded" in post_data)
        if post_data.get("clear") == str(row_index):
            grid_input.cleared_rows.append(row)
            continue
        if post_data.get("use") in (str(row_index), ALL_ROWS):
            texts = replace_with_payments(texts, post_data.get(f"payments{row_index}", ""))
        if post_data.get("across") == str(row_index):
            texts = copy_amount_across(texts, previous_texts, currency)
        for month, text, before in zip(months, texts, previous_texts, strict=True):
            collect_changed_cell(grid_input, row, month, text, before, currency)
        keys = ((month, row.pl_type, row.category_id) for month in months)
        grid_input.texts |= {key: text for key, text in zip(keys, typed_texts, strict=True) if key in grid_input.texts}
    return grid_input


def parse_plan_row(text: str) -> PlanRow | None:
    """Parse the name of a row; None if it is none."""
    category_id, line = parse_category_choice(text)
    try:
        return PlanRow(PlType(line or "").value, UUID(category_id))
    except ValueError:
        return None


def replace_with_payments(texts: list[str], payments_text: str) -> list[str]:
    """Return the texts of a row with the amounts of planned transactions, in the months that have any."""
    payments = payments_text.split(AMOUNT_SEPARATOR)
    if len(payments) != len(texts):
        return texts
    return [payment or text for payment, text in zip(payments, texts, strict=True)]


def copy_amount_across(texts: list[str], previous_texts: list[str], currency: str) -> list[str]:
    """Copy the first changed, else the first amount of a row into all later months.

    Returns the texts unchanged if it is no amount; the error is reported at its cell.
    """
    changed_places = (
        place for place, text in enumerate(texts) if has_cell_changed(text, previous_texts[place], currency)
    )
    filled_places = (place for place, text in enumerate(texts) if text)
    source = next(changed_places, next(filled_places, 0))
    try:
        parse_cell_amount(texts[source], currency)
    except ValidationFailed:
        return texts
    return texts[:source] + [texts[source]] * (len(texts) - source)


def has_cell_changed(text: str, previous_text: str, currency: str) -> bool:
    if text == previous_text:
        return False
    try:
        return parse_cell_amount(text, currency) != parse_cell_amount(previous_text, currency)
    except ValidationFailed:
        return True


def parse_cell_amount(text: str, currency: str, pointer: str = "") -> Decimal:
    if not text:
        return ZERO
    return parse_api_amount(normalize_typed_amount(text, currency=currency, pointer=pointer), currency, pointer=pointer)


def collect_changed_cell(
    grid_input: GridInput, row: PlanRow, month: date, text: str, previous_text: str, currency: str
) -> None:
    if not has_cell_changed(text, previous_text, currency):
        return
    key = (month, row.pl_type, row.category_id)
    grid_input.texts[key] = text
    try:
        amount = round_half_up(parse_cell_amount(text, currency, build_cell_pointer(key)), currency)
    except ValidationFailed as error:
        grid_input.errors += error.errors
        return
    try:
        previous_amount = parse_amount(previous_text) if previous_text else ZERO
    except InvalidAmount:
        previous_amount = ZERO
    grid_input.cells.append(PlanCell(row, month, amount, previous_amount, build_cell_pointer(key)))


def parse_shown_texts(
    typed: Sequence[str], previous_texts: Sequence[str], row: PlanRow, currency: str, *, is_rounded: bool
) -> list[str]:
    """Return the texts of a row with the API's signs, and with their cents where they were not changed."""
    texts = [parse_shown_text(text, row.pl_type, currency) for text in typed]
    if not is_rounded:
        return texts
    return [keep_unchanged_cents(text, before, currency) for text, before in zip(texts, previous_texts, strict=True)]


def keep_unchanged_cents(text: str, previous_text: str, currency: str) -> str:
    """Return the previous text where what was typed is what it was rounded to: the cell was not changed."""
    try:
        typed, previous = parse_cell_amount(text, currency), parse_cell_amount(previous_text, currency)
    except ValidationFailed:
        return text
    return previous_text if typed == round_to_units(previous) else text
