"""Open invoices: payment terms, and an index of what is open."""

from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    dependencies = [("planning", "0009_settlements"), ("ledger", "0033_payment_terms")]

    operations = [
        migrations.AddField("plannedtransaction", "payment_terms", models.SmallIntegerField(null=True)),
        migrations.AddConstraint(
            "plannedtransaction",
            models.CheckConstraint(
                condition=Q(payment_terms__gte=0, payment_terms__lte=999), name="planned_terms_in_range"
            ),
        ),
        migrations.AddIndex(
            "plannedtransaction",
            models.Index(
                condition=Q(
                    ("frequency__isnull", True),
                    ("invoice_date__isnull", False),
                    ("settled_by", "transaction"),
                    ("is_closed", False),
                ),
                fields=["company", "counterparty"],
                name="open_invoices",
            ),
        ),
    ]
