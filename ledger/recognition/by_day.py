"""What of a month counts up to a day of it: said once, for the statement and for the list of what it is made of.

Only transactions dated up to the day, of a service period only its days up to it, each of them alike.
"""

from datetime import date

from django.db.models import DecimalField
from django.db.models.expressions import RawSQL

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

_OF_A_POSTING = f"""(
    SELECT {UP_TO_DAY}
      FROM (SELECT ledger_posting.month, ledger_posting.pl_type, ledger_posting.base_amount) AS p
     CROSS JOIN (SELECT %s::date AS day) AS cut
     CROSS JOIN ledger_categorization AS c
      JOIN ledger_transaction AS t ON t.company_id = c.company_id AND t.id = c.transaction_id
     WHERE c.company_id = ledger_posting.company_id AND c.id = ledger_posting.categorization_id
)"""  # noqa: S608 - texts of ours alone


def up_to_day(day: date) -> RawSQL:
    """The same of each row of a query of postings."""
    return RawSQL(_OF_A_POSTING, [day], output_field=DecimalField(max_digits=30, decimal_places=10))  # noqa: S611
