"""Beside entries of the log: which transactions they are about. What acts that are kept tell of them is filled in."""

import django.db.models.deletion
from django.db import migrations, models

import companies.models.tenancy

# An act bears the moment and the author of its run; no two acts of an author do.
BY_HAND = """
    INSERT INTO ledger_transactiontouched (company_id, id, entry_id, transaction_id, as_partner)
    SELECT e.company_id, gen_random_uuid(), e.id, b.transaction_id, false
      FROM ledger_categorizationrun AS r
      JOIN companies_auditentry AS e ON e.company_id = r.company_id AND e.time = r.created_time
       AND e.actor IS NOT DISTINCT FROM r.created_user_id
       AND e.action IN ('transactions.categorized', 'transactions.uncategorized', 'transactions.deleted')
      JOIN ledger_transactionbefore AS b ON b.company_id = r.company_id AND b.run_id = r.id
"""
OF_RULES = """
    INSERT INTO ledger_transactiontouched (company_id, id, entry_id, transaction_id, as_partner)
    SELECT e.company_id, gen_random_uuid(), e.id, c.transaction_id, false
      FROM ledger_categorization AS c
      JOIN companies_auditentry AS e ON e.company_id = c.company_id AND e.entity_type = 'categorizationRun'
       AND e.entity_id = c.run_id::text AND e.action = 'transactions.rulesApplied'
     WHERE c.run_id IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0014_site_logos"),
        ("ledger", "0017_acts_by_hand_and_saved_views"),
    ]

    operations = [
        migrations.CreateModel(
            name="TransactionTouched",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("transaction_id", models.UUIDField()),
                ("as_partner", models.BooleanField(default=False)),
                (
                    "company",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="companies.company",
                    ),
                ),
                (
                    "entry",
                    companies.models.tenancy.CompanyForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="companies.auditentry",
                        when_deleted="stays",  # 0019 takes the reference away where it was
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["company", "transaction_id"], name="touched_by_transaction")],
            },
        ),
        companies.models.tenancy.CompanyKeys(["TransactionTouched"]),
        migrations.RunSQL(BY_HAND, migrations.RunSQL.noop),
        migrations.RunSQL(OF_RULES, migrations.RunSQL.noop),
    ]
