from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0021_first_hour")]

    operations = [
        migrations.CreateModel(
            name="RateCounter",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("window_number", models.BigIntegerField()),
                ("count", models.BigIntegerField()),
                ("expires_time", models.DateTimeField(db_index=True)),
            ],
            options={"abstract": False},
        ),
        # Counts of minutes and hours need not outlive a crash, and are written without the log of changes.
        migrations.RunSQL("ALTER TABLE companies_ratecounter SET UNLOGGED", migrations.RunSQL.noop),
    ]
