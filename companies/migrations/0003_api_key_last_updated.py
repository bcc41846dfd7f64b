"""Keys get the audit fields that every resource has; of those there are, the last change was their end or their making."""

from django.db import migrations, models
from django.utils import timezone


class Migration(migrations.Migration):
    dependencies = [("companies", "0002_audit_log_is_append_only")]

    operations = [
        migrations.AddField(
            "apikey", "last_updated_time", models.DateTimeField(default=timezone.now), preserve_default=False
        ),
        migrations.AddField("apikey", "last_updated_user_id", models.CharField(max_length=64, null=True)),
        migrations.RunSQL(
            "UPDATE companies_apikey SET last_updated_time = coalesce(revoked_time, created_time), "
            "last_updated_user_id = CASE WHEN revoked_time IS NULL THEN created_user_id END",
            migrations.RunSQL.noop,
        ),
    ]
