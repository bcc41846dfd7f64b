"""What of a month counts up to a day of it: said once, for the statement and for the list of what it is made of.

Only transactions dated up to the day, of a service period only its days up to it, each of them alike.
"""

from datetime import date
from uuid import UUID

from django.db.models import DateField, DecimalField, Func, Value
from django.db.models.functions import Cast

from ledger.calc.money import CURRENCIES, minor_units
from ledger.recognition.posting import LINES

# Of a posting p of a part c of a transaction t, in the base currency; the day is ``cut.day``. Months other than its own
# count whole. A part by transaction date may carry an invoice's date, which moves its revenue only.
UP_TO_DAY = """
    CASE WHEN p.month <> date_trunc('month', cut.day)::date THEN p.base_amount
         WHEN t.date > cut.day THEN 0
         WHEN c.rule = 'transactionDate' AND p.pl_type <> 'revenue' THEN p.base_amount
         WHEN c.computed_start_date > cut.day THEN 0
         ELSE round(p.base_amount * (least(c.computed_end_date, cut.day) - greatest(c.computed_start_date, p.month) + 1)
                    / (least(c.computed_end_date, (p.month + interval '1 month')::date - 1)
                       - greatest(c.computed_start_date, p.month) + 1), 10)
    END
"""


class UpToDay(Func):
    """The same of each row of a query of a company's postings."""

    template = f"""(
        SELECT {UP_TO_DAY}
          FROM (VALUES (%(expressions)s)) AS p(part_id, month, pl_type, base_amount, day)
         CROSS JOIN LATERAL (SELECT p.day) AS cut
          JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.part_id
          JOIN ledger_transaction AS t ON t.company_id = c.company_id AND t.id = c.transaction_id
    )"""  # noqa: S608 - texts of ours alone
    output_field = DecimalField(max_digits=30, decimal_places=10)

    def __init__(self, day: date, *, company_id: UUID):
        columns = "categorization_id", "month", "pl_type", "base_amount"
        super().__init__(*columns, Cast(Value(day), DateField()), company=f"'{company_id}'::uuid")


# Of a posting p of a part c of a transaction t, what the days from ``cut.first`` to ``cut.last`` recognise in the base
# currency: the difference of running totals of the line's amount, rounded as months are (ledger.calc.recognition), so
# that the days of a month add up to it. NULL where none of its days is among them.
WITHIN_DAYS = """
    CASE WHEN days.first > days.last THEN NULL
         ELSE round((round(line.value * (days.last - line.start + 1) / line.days, line.units)
                     - round(line.value * (days.first - line.start) / line.days, line.units))
                    * p.base_amount / p.amount, 10)
    END
"""


class WithinDays(Func):
    """What of each row of a query of a company's postings counts on days from the first to the last, both included."""

    template = f"""(
        SELECT {WITHIN_DAYS}
          FROM (VALUES (%(expressions)s)) AS p(part_id, month, pl_type, amount, base_amount, first, last)
          JOIN ledger_categorization AS c ON c.company_id = %(company)s AND c.id = p.part_id
          JOIN ledger_transaction AS t ON t.company_id = c.company_id AND t.id = c.transaction_id
         CROSS JOIN LATERAL (SELECT c.rule = 'transactionDate' AND p.pl_type <> 'revenue' AS on_its_day) AS by_rule
         CROSS JOIN LATERAL (
               SELECT CASE WHEN on_its_day THEN t.date ELSE c.computed_start_date END AS start,
                      CASE WHEN on_its_day THEN t.date ELSE c.computed_end_date END AS "end") AS period
         CROSS JOIN LATERAL (
               SELECT period.start, period."end" - period.start + 1 AS days,
                      CASE p.pl_type {" ".join(f"WHEN '{line}' THEN c.{line}" for line in LINES)} END AS value,
                      CASE WHEN t.amount_currency IN %(whole)s THEN 0 ELSE 2 END AS units) AS line
         CROSS JOIN LATERAL (
               SELECT greatest(p.first, p.month, period.start) AS first,
                      least(p.last, (p.month + interval '1 month')::date - 1, period."end") AS last) AS days
    )"""  # noqa: S608 - texts of ours alone
    output_field = DecimalField(max_digits=30, decimal_places=10)

    def __init__(self, first: date, last: date, *, company_id: UUID):
        columns = "categorization_id", "month", "pl_type", "amount", "base_amount"
        days = (Cast(Value(day), DateField()) for day in (first, last))
        whole = ", ".join(f"'{currency}'" for currency in CURRENCIES if minor_units(currency) == 0)
        super().__init__(*columns, *days, company=f"'{company_id}'::uuid", whole=f"({whole})")
