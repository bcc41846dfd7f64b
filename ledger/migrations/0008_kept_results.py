"""What closings keep for their report, what imports found lapsed, and the version of a company's subscription events."""

import uuid

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
            name='report_figures',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='closing',
            name='acknowledged_checks',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='recurringrevenuestate',
            name='events_version',
            field=models.UUIDField(default=uuid.uuid4),
        ),
        migrations.AddField(
            model_name='importbatch',
            name='lapsed',
            field=models.IntegerField(db_default=0),
        ),
    ]
