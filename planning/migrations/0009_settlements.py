"""Settlements with amounts take the place of the one transaction that settled an occurrence.

What was settled is settled with what was planned: it left the forecast whole. Where the transaction was smaller, the
rest is written off.
"""

import django.db.models.deletion
from django.db import migrations, models

import companies.models.tenancy
from companies.models.tenancy import SEQUENTIAL_MODE_SQL

# The smaller of both amounts where the currencies are the same, else all that was planned and all that was paid.
COPY_SETTLEMENTS = """
    INSERT INTO planning_settlement
           (company_id, id, planned_id, original_date, transaction_id, amount_value, transaction_amount_value)
    SELECT o.company_id, gen_random_uuid(), o.planned_id, o.original_date, o.transaction_id,
           CASE WHEN t.amount_currency <> p.amount_currency OR abs(t.amount_value) > abs(planned.amount)
                THEN planned.amount ELSE t.amount_value END,
           CASE WHEN t.amount_currency <> p.amount_currency OR abs(t.amount_value) <= abs(planned.amount)
                THEN t.amount_value ELSE planned.amount END
      FROM planning_plannedoverride AS o
      JOIN planning_plannedtransaction AS p ON p.company_id = o.company_id AND p.id = o.planned_id
      JOIN ledger_transaction AS t ON t.company_id = o.company_id AND t.id = o.transaction_id
     CROSS JOIN LATERAL (SELECT coalesce(o.amount_value, p.amount_value) AS amount) AS planned
     WHERE planned.amount <> 0
"""
WRITE_OFF_RESTS = """
    INSERT INTO planning_settlement (company_id, id, planned_id, original_date, amount_value, date, reason)
    SELECT s.company_id, gen_random_uuid(), s.planned_id, s.original_date, planned.amount - s.amount_value, t.date,
           'Paid less than planned'
      FROM planning_settlement AS s
      JOIN planning_plannedtransaction AS p ON p.company_id = s.company_id AND p.id = s.planned_id
      JOIN ledger_transaction AS t ON t.company_id = s.company_id AND t.id = s.transaction_id
      LEFT JOIN planning_plannedoverride AS o
           ON o.company_id = s.company_id AND o.planned_id = s.planned_id AND o.original_date = s.original_date
     CROSS JOIN LATERAL (SELECT coalesce(o.amount_value, p.amount_value) AS amount) AS planned
     WHERE planned.amount <> s.amount_value
"""
MARK_CLOSED = """
    UPDATE planning_plannedtransaction AS p SET is_closed = true, settled_value = s.amount_value
      FROM (SELECT company_id, planned_id, original_date, sum(amount_value) AS amount_value
              FROM planning_settlement GROUP BY company_id, planned_id, original_date) AS s
     WHERE s.company_id = p.company_id AND s.planned_id = p.id AND s.original_date = p.start_date
       AND p.frequency IS NULL
"""
DELETE_EMPTY_OVERRIDES = """
    DELETE FROM planning_plannedoverride
     WHERE skipped IS NULL AND date IS NULL AND amount_value IS NULL AND account_id IS NULL AND category_id IS NULL
       AND name IS NULL
"""


class Migration(migrations.Migration):
    dependencies = [("planning", "0008_scenarios"), ("ledger", "0030_plain_texts")]

    operations = [
        migrations.RunSQL(
            f"DO $$ BEGIN IF to_regclass('pg_dist_partition') IS NOT NULL THEN {SEQUENTIAL_MODE_SQL}; END IF; END $$",
            migrations.RunSQL.noop,
        ),
        migrations.AddField("plannedtransaction", "is_closed", models.BooleanField(default=False)),
        migrations.AddField(
            "plannedtransaction", "settled_value", models.DecimalField(decimal_places=4, default=0, max_digits=19)
        ),
        migrations.CreateModel(
            name="Settlement",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("original_date", models.DateField()),
                ("amount_value", models.DecimalField(decimal_places=4, max_digits=19)),
                ("transaction_amount_value", models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ("date", models.DateField(null=True)),
                ("reason", models.CharField(max_length=500, null=True)),
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
                    "planned",
                    companies.models.tenancy.CompanyForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="planning.plannedtransaction",
                        when_deleted="cascade",
                    ),
                ),
                (
                    "transaction",
                    companies.models.tenancy.CompanyForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        to="ledger.transaction",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["company", "planned"], name="settlement_by_planned"),
                    models.Index(
                        condition=models.Q(("transaction__isnull", False)),
                        fields=["company", "transaction"],
                        name="settlement_by_transaction",
                    ),
                    models.Index(
                        condition=models.Q(("date__isnull", False)),
                        fields=["company", "date"],
                        name="write_off_by_date",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("transaction__isnull", False)),
                        fields=("company", "planned", "original_date", "transaction"),
                        name="settlement_once_a_pair",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("date__isnull", False),
                                ("transaction__isnull", True),
                                ("transaction_amount_value__isnull", True),
                            ),
                            models.Q(
                                ("date__isnull", True),
                                ("transaction__isnull", False),
                                ("transaction_amount_value__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="settlement_payment_or_write_off",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount_value", 0), _negated=True), name="settlement_of_something"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("amount_value__lt", 1000000000000000)), name="settlement_amount_a_number"
                    ),
                ],
            },
        ),
        companies.models.tenancy.CompanyKeys(["Settlement"]),
        migrations.RunSQL(COPY_SETTLEMENTS, migrations.RunSQL.noop),
        migrations.RunSQL(WRITE_OFF_RESTS, migrations.RunSQL.noop),
        migrations.RunSQL(MARK_CLOSED, migrations.RunSQL.noop),
        migrations.RemoveConstraint("plannedoverride", "override_transaction_settles_once"),
        migrations.RemoveConstraint("plannedoverride", "override_settled_takes_place"),
        migrations.RemoveField("plannedoverride", "transaction"),
        migrations.RunSQL(DELETE_EMPTY_OVERRIDES, migrations.RunSQL.noop),
    ]
