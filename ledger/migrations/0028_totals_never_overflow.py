from django.db import migrations, models

TOTAL = models.DecimalField(decimal_places=4, max_digits=34)


class Migration(migrations.Migration):
    """Wider columns for sums: ten thousand of the largest amounts on one day exceeded them, and so did one of the
    largest amounts in a currency of many zeros. More digits before the point rewrite no rows."""

    dependencies = [("ledger", "0027_habits_without_delete_trigger")]

    operations = [
        *(migrations.AlterField("daymovement", name, TOTAL.clone()) for name in ("amount", "inflow", "outflow")),
        migrations.AlterField("monthmovement", "amount", TOTAL.clone()),
        migrations.AlterField("posting", "base_amount", models.DecimalField(decimal_places=10, max_digits=44)),
        migrations.AlterField("monthresult", "base_amount", models.DecimalField(decimal_places=10, max_digits=60)),
    ]
