"""Beside transactions what their import told of them, where somebody has corrected it; documents of what lapsed."""

import django.contrib.postgres.fields
import django.db.models.fields.json
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0021_first_hour'),
        ('ledger', '0019_touched_refer_to_no_entry'),
    ]

    operations = [
        migrations.AddField(
            model_name='pendingbefore',
            name='file_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
        ),
        migrations.AddField(
            model_name='transaction',
            name='as_told',
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name='transaction',
            name='told_time',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name='transaction',
            index=models.Index(models.F('company'), django.db.models.fields.json.KeyTextTransform('date', 'as_told'), condition=models.Q(('as_told__isnull', False)), name='transaction_told_otherwise'),
        ),
    ]
