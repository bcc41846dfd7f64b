"""Imports count entries that were not stored because the bank no longer reports them."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('ledger', '0009_events_version')]

    operations = [
        migrations.AddField(
            model_name='importbatch',
            name='lapsed',
            field=models.IntegerField(db_default=0),
        ),
    ]
