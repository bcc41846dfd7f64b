"""What of a month counts up to a day of it: said once, for the statement and for the list of what it is made of.

Only transactions dated up to the day, of a service period only its days up to it, each of them alike.
"""

from datetime import date
from uuid import UUID

from django.db.models import DateField, DecimalField, Func, Value
from django.db.models.functions import Cast

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
