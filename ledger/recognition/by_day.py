"""What of a month counts up to a day of it: said once, for the statement and for the list of what it is made of.

Only transactions dated up to the day, of a service period only its days up to it, each of them alike.
"""

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
