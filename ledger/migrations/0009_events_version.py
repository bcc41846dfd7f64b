"""The version of a company's subscription events, by which results that were computed from them are kept."""

import uuid

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('ledger', '0008_closing_plan')]

    operations = [
        migrations.AddField(
            model_name='recurringrevenuestate',
            name='events_version',
            field=models.UUIDField(default=uuid.uuid4),
        ),
    ]
