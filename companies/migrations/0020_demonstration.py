"""A demonstration company is known by what its data is made of. Those from before are not: they stay as they are."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0019_audit_log_by_month'),
    ]

    operations = [
        migrations.AddField(
            model_name='company',
            name='demonstration',
            field=models.JSONField(editable=False, null=True),
        ),
    ]
