"""What plans refer to is cleared by whoever deletes it: no cluster takes SET NULL for a key with the company in it."""

from django.db import migrations

import companies.models.tenancy
from companies.models.tenancy import CompanyForeignKey

CHANGED = ["plannedtransaction.account", "plannedoverride.account", "plannedoverride.transaction"]
TARGETS = {"account": "ledger.account", "transaction": "ledger.transaction"}


def altered(name: str) -> migrations.AlterField:
    model, field = name.split(".")
    return migrations.AlterField(model, field, CompanyForeignKey(TARGETS[field], null=True))


def dropped(name: str) -> migrations.RunSQL:
    model, field = name.split(".")
    return migrations.RunSQL(f'ALTER TABLE "planning_{model}" DROP CONSTRAINT "planning_{model}_{field}"')


class Migration(migrations.Migration):
    dependencies = [("planning", "0001_initial")]

    operations = [
        *map(altered, CHANGED),
        *map(dropped, CHANGED),
        companies.models.tenancy.CompanyReferences(CHANGED),
    ]
