"""No trigger on deleted parts any more: what follows in the same transaction counts the habits again.

The parts of a whole transaction that lose their place are followed by others (insert trigger) or by another total of
their transaction (update trigger), or the transaction itself is deleted. Counting in between found habits that nobody
could read, and took a seventh of the time of uncategorizing.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ledger", "0026_category_financing")]

    operations = [
        migrations.RunSQL(
            [
                "DROP TRIGGER IF EXISTS ledger_habits_categorization_delete ON ledger_categorization",
                "DROP FUNCTION IF EXISTS ledger_habits_categorization_delete()",
            ],
            migrations.RunSQL.noop,
        )
    ]
