from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0032_file_by_storage_path")]

    operations = [
        migrations.AddField("counterparty", "payment_terms", models.SmallIntegerField(null=True)),
        migrations.AddConstraint(
            "counterparty",
            models.CheckConstraint(
                condition=models.Q(("payment_terms__gte", 0), ("payment_terms__lte", 999)),
                name="counterparty_terms_in_range",
            ),
        ),
    ]
