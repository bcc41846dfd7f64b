"""A planned transaction may stand for a month's total in its category."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("planning", "0005_amounts_are_numbers")]

    operations = [
        migrations.AddField(
            "plannedtransaction",
            "settled_by",
            models.CharField(
                choices=[("transaction", "Transaction"), ("category", "Category")], default="transaction", max_length=11
            ),
        ),
        migrations.AddConstraint(
            "plannedtransaction",
            models.CheckConstraint(
                condition=Q(settled_by="transaction") | Q(settled_by="category", category__isnull=False),
                name="planned_total_has_category",
            ),
        ),
    ]
