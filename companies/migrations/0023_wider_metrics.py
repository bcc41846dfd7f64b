from django.db import migrations, models


class Migration(migrations.Migration):
    """The sum of many subscriptions has more digits than one amount, which is below 10 to the 15th."""

    dependencies = [("companies", "0022_rate_counters")]

    operations = [
        migrations.AlterField(
            model_name="company",
            name="computed_committed_mrr_eur",
            field=models.DecimalField(decimal_places=2, max_digits=30, null=True),
        ),
    ]
