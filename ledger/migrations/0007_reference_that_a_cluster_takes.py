"""A default category is cleared by whoever deletes it: no cluster takes SET NULL for a key with the company in it."""

from django.db import migrations

import companies.models.tenancy


class Migration(migrations.Migration):
    dependencies = [("ledger", "0006_recurring_series")]

    operations = [
        migrations.AlterField(
            "account", "default_category", companies.models.tenancy.CompanyForeignKey("ledger.category", null=True)
        ),
        migrations.RunSQL('ALTER TABLE "ledger_account" DROP CONSTRAINT "ledger_account_default_category"'),
        companies.models.tenancy.CompanyReferences(["account.default_category"]),
    ]
