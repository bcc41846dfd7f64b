"""Which of several date columns has the days on which rows were booked."""

from collections.abc import Sequence

from ledger.imports.calc.columns import Column
from ledger.imports.calc.headings import fold_heading

STARTED_WORDS = ("started", "created", "available", "kauf", "purchase", "authorised", "authorized")
BOOKED_WORDS = (
    "complet", "finish", "post", "book", "settl", "buch", "ksieg", "zaksieg", "boek", "contab", "comptab", "zauct",
    "konyvel", "bokfor", "bokfør", "bogfør", "knjiz", "kirjaus",
)  # fmt: skip
BOOKED_SIGNS = ("入账", "入帳", "记账", "記帳", "計上")


def is_named_payment_day(column: Column) -> bool:
    """Whether the heading names the day of a payment rather than the day on which it was booked."""
    return any(word.startswith(STARTED_WORDS) for word in fold_heading(column.name).split())


def is_named_booking_day(column: Column) -> bool:
    """Whether the heading names the day on which a payment was booked."""
    heading = fold_heading(column.name)
    return any(word.startswith(BOOKED_WORDS) for word in heading.split()) or any(
        sign in heading for sign in BOOKED_SIGNS
    )


def choose_booking_date(columns: Sequence[Column]) -> Column:
    """The column of days on which rows were booked, even where pending rows have none yet; else the fullest."""
    most = max(len(each.filled) for each in columns)
    mostly_filled = [each for each in columns if 2 * len(each.filled) >= most]
    if booked := [each for each in mostly_filled if is_named_booking_day(each)]:
        return booked[0]
    full = [each for each in columns if len(each.filled) == most]
    if any(map(is_named_payment_day, full)):
        return next((each for each in mostly_filled if not is_named_payment_day(each)), full[0])
    return full[0]
