"""Closings keep the plan that their report shows, and the checks that were acknowledged."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('ledger', '0007_model_names')]

    operations = [
        migrations.AddField(
            model_name='closing',
            name='plan',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='closing',
            name='acknowledged_checks',
            field=models.JSONField(null=True),
        ),
    ]
