"""SQL for results of part of a month, used by the statement and by the list of its transactions.

Only transactions dated up to the day count, and of a service period only its days up to it.
"""

from datetime import date
from uuid import UUID

from django.db.models import DateField, DecimalField, Func, Value
from django.db.models.functions import Cast

from ledger.money.calc.money import CURRENCIES, get_minor_units
from ledger.recognition.actions.postings import PL_TYPES

# For a posting p of a categorization c of a transaction t, in the base currency, up to ``cut.day``. Months
# other than that of the day count fully. A categorization by transaction date may have an invoice date, which
# moves only its revenue.
# The first day that a posting recognizes: in the month that catches up, all that lies before it too.
FIRST_DAY = (
    "CASE WHEN p.month = c.recognized_from THEN c.computed_start_date ELSE greatest(c.computed_start_date, p.month) END"
)
UP_TO_DAY_SQL = f"""
    CASE WHEN p.month <> date_trunc('month', cut.day)::date THEN p.base_amount
         WHEN t.date > cut.day THEN 0
         WHEN c.rule = 'transactionDate' AND p.pl_type <> 'revenue' THEN p.base_amount
         WHEN c.computed_start_date > cut.day THEN 0
         ELSE round(p.base_amount * (least(c.computed_end_date, cut.day) - {FIRST_DAY} + 1)
                    / (least(c.computed_end_date, (p.month + interval '1 month')::date - 1) - {FIRST_DAY} + 1), 10)
    END
"""


class RecognizedUpToDay(Func):
    """The amount of a posting that is recognized up to a day, as a query expression."""

    template = f"""(
        SELECT {UP_TO_DAY_SQL}
          FROM (VALUES (%(expressions)s)) AS p(part_id, month, pl_type, base_amount, day)
         CROSS JOIN LATERAL (SELECT p.day) AS cut
          JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.part_id
          JOIN ledger_transaction AS t ON t.company_id = c.company_id AND t.id = c.transaction_id
    )"""  # noqa: S608 - texts of ours alone
    output_field = DecimalField(max_digits=30, decimal_places=10)

    def __init__(self, day: date, *, company_id: UUID):
        columns = "categorization_id", "month", "pl_type", "base_amount"
        super().__init__(*columns, Cast(Value(day), DateField()), company=f"'{company_id}'::uuid")


# For a posting p of a categorization c of a transaction t, the amount recognized from ``cut.first`` to
# ``cut.last`` in the base currency: the difference of running totals, rounded like months
# (ledger.calc.recognition), so that the days of a month add up to it. NULL if none of its days is in the range.
WITHIN_DAYS_SQL = """
    CASE WHEN days.first > days.last THEN NULL
         ELSE round((round(line.value * (days.last - line.start + 1) / line.days, line.units)
                     - round(line.value * (days.first - line.start) / line.days, line.units))
                    * p.base_amount / p.amount, 10)
    END
"""


class RecognizedWithinDays(Func):
    """The amount of a posting that is recognized from the first to the last day, both included."""

    template = f"""(
        SELECT {WITHIN_DAYS_SQL}
          FROM (VALUES (%(expressions)s)) AS p(part_id, month, pl_type, amount, base_amount, first, last)
          JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.part_id
          JOIN ledger_transaction AS t ON t.company_id = c.company_id AND t.id = c.transaction_id
         CROSS JOIN LATERAL (SELECT c.rule = 'transactionDate' AND p.pl_type <> 'revenue' AS on_its_day) AS by_rule
         CROSS JOIN LATERAL (
               SELECT CASE WHEN on_its_day THEN t.date ELSE c.computed_start_date END AS start,
                      CASE WHEN on_its_day THEN t.date ELSE c.computed_end_date END AS "end") AS period
         CROSS JOIN LATERAL (
               SELECT period.start, period."end" - period.start + 1 AS days,
                      CASE p.pl_type {" ".join(f"WHEN '{line}' THEN c.{line}" for line in PL_TYPES)} END AS value,
                      CASE WHEN t.amount_currency IN %(zero_decimal_currencies)s THEN 0 ELSE 2 END AS units) AS line
         CROSS JOIN LATERAL (
               SELECT CASE WHEN p.month = c.recognized_from AND p.first <= p.month THEN period.start
                           ELSE greatest(p.first, p.month, period.start) END AS first,
                      least(p.last, (p.month + interval '1 month')::date - 1, period."end") AS last) AS days
    )"""  # noqa: S608 - texts of ours alone
    output_field = DecimalField(max_digits=30, decimal_places=10)

    def __init__(self, first: date, last: date, *, company_id: UUID):
        columns = "categorization_id", "month", "pl_type", "amount", "base_amount"
        days = (Cast(Value(day), DateField()) for day in (first, last))
        zero_decimal_currencies = ", ".join(
            f"'{currency}'" for currency in CURRENCIES if get_minor_units(currency) == 0
        )
        super().__init__(
            *columns, *days, company=f"'{company_id}'::uuid", zero_decimal_currencies=f"({zero_decimal_currencies})"
        )
