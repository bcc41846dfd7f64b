"""Initial balances become complete: all of each is one part, of the category for them, and none is linked."""

from django.db import migrations, models

MENDING = [
    # What a transfer took of the other leg's transaction is open again.
    """
    UPDATE ledger_transaction t
       SET categorized_value = t.categorized_value - freed.value, transferred_value = t.transferred_value - freed.value,
           last_updated_time = now(), last_updated_user_id = NULL
      FROM (SELECT other.company_id, other.transaction_id, sum(other.value) AS value
              FROM ledger_transaction i
              JOIN ledger_categorization leg ON leg.company_id = i.company_id AND leg.transaction_id = i.id
              JOIN ledger_categorization other ON other.company_id = leg.company_id AND other.id = leg.counter_id
             WHERE i.source = 'initialBalance'
             GROUP BY other.company_id, other.transaction_id) AS freed
     WHERE t.company_id = freed.company_id AND t.id = freed.transaction_id AND t.source <> 'initialBalance'
    """,
    # Their parts and the other legs of those: none of them has postings.
    """
    DELETE FROM ledger_categorization c
     USING (SELECT part.company_id, part.id, part.counter_id
              FROM ledger_transaction i
              JOIN ledger_categorization part ON part.company_id = i.company_id AND part.transaction_id = i.id
             WHERE i.source = 'initialBalance') AS gone
     WHERE c.company_id = gone.company_id AND (c.id = gone.id OR c.id = gone.counter_id)
    """,
    """
    UPDATE ledger_transaction
       SET categorized_value = amount_value, transferred_value = 0,
           last_updated_time = now(), last_updated_user_id = NULL
     WHERE source = 'initialBalance'
    """,
    """
    INSERT INTO ledger_categorization (company_id, id, transaction_id, position, category_id, rule,
                                       computed_start_date, computed_end_date, neutral, value)
    SELECT i.company_id, gen_random_uuid(), i.id, 0, k.id, 'transactionDate', i.date, i.date, i.amount_value,
           i.amount_value
      FROM ledger_transaction i
      JOIN ledger_category k ON k.company_id = i.company_id AND k.system_key = 'initialBalance'
     WHERE i.source = 'initialBalance'
    """,
    "SET CONSTRAINTS ALL IMMEDIATE",  # a table with checks that wait is not altered
]


class Migration(migrations.Migration):
    dependencies = [("ledger", "0008_rate_load_revalued")]

    operations = [
        migrations.RunSQL(MENDING, migrations.RunSQL.noop),
        migrations.AddConstraint(
            model_name="transaction",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("source", "initialBalance"), _negated=True),
                    models.Q(("categorized_value", models.F("amount_value")), ("transferred_value", 0)),
                    _connector="OR",
                ),
                name="transaction_initial_balance_complete",
            ),
        ),
    ]
