"""What was both skipped and settled was settled: its transaction is there."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("planning", "0003_auto_settle")]

    operations = [
        migrations.RunSQL(
            "UPDATE planning_plannedoverride SET skipped = NULL WHERE skipped AND transaction_id IS NOT NULL",
            migrations.RunSQL.noop,
        ),
        migrations.AddConstraint(
            "plannedoverride",
            models.CheckConstraint(
                condition=~Q(skipped=True) | Q(transaction__isnull=True),
                name="override_settled_takes_place",
                violation_error_code="occurrence_skipped",
                violation_error_message="What is skipped is settled by nothing.",
            ),
        ),
        migrations.AlterConstraint(
            "plannedoverride",
            "override_transaction_settles_once",
            models.UniqueConstraint(
                condition=Q(transaction__isnull=False),
                fields=("company", "transaction"),
                name="override_transaction_settles_once",
                violation_error_code="transaction_settles_another",
                violation_error_message="This transaction settles another occurrence already.",
            ),
        ),
    ]
