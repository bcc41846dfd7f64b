from django.db import migrations, models

import companies.time_zones


class Migration(migrations.Migration):
    """The day that counts as today depends on where a company is."""

    dependencies = [("companies", "0023_wider_metrics")]

    operations = [
        migrations.AddField(
            model_name="company",
            name="time_zone",
            field=models.CharField(
                default="UTC",
                max_length=64,
                validators=[companies.time_zones.check_time_zone],
            ),
        ),
    ]
