"""Bank statements: what they said of accounts, what they did to pending entries, and of which file an import came."""

import companies.models.tenancy
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0007_one_membership_by_code'),
        ('ledger', '0012_refusals_beside_more_constraints'),
    ]

    operations = [
        migrations.RunSQL(companies.models.tenancy.SEQUENTIAL_MODE_SQL, migrations.RunSQL.noop),
        migrations.AddField(
            model_name='importbatch',
            name='account_ids',
            field=django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None),
        ),
        migrations.AddField(
            model_name='importbatch',
            name='filename',
            field=models.CharField(max_length=255, null=True),
        ),
        migrations.AddField(
            model_name='importbatch',
            name='format',
            field=models.CharField(max_length=20, null=True),
        ),
        migrations.AddField(
            model_name='transaction',
            name='bank_reference',
            field=models.TextField(null=True),
        ),
        migrations.RunSQL(
            """
            UPDATE ledger_importbatch i
               SET account_ids = brought.ids
              FROM (SELECT company_id, import_batch_id, array_agg(DISTINCT account_id) AS ids
                      FROM ledger_transaction WHERE import_batch_id IS NOT NULL
                     GROUP BY company_id, import_batch_id) AS brought
             WHERE i.company_id = brought.company_id AND i.id = brought.import_batch_id
            """,
            migrations.RunSQL.noop,
        ),
        migrations.CreateModel(
            name='PendingBefore',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('transaction_id', models.UUIDField()),
                ('facts', models.JSONField()),
                ('parts', models.JSONField(null=True)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('import_batch', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.importbatch', when_deleted='cascade')),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'import_batch'], name='pending_before_by_import')],
            },
        ),
        migrations.CreateModel(
            name='Statement',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('currency', models.CharField(choices=[('EUR', 'EUR'), ('AUD', 'AUD'), ('BRL', 'BRL'), ('CAD', 'CAD'), ('CHF', 'CHF'), ('CNY', 'CNY'), ('CZK', 'CZK'), ('DKK', 'DKK'), ('GBP', 'GBP'), ('HKD', 'HKD'), ('HUF', 'HUF'), ('IDR', 'IDR'), ('ILS', 'ILS'), ('INR', 'INR'), ('ISK', 'ISK'), ('JPY', 'JPY'), ('KRW', 'KRW'), ('MXN', 'MXN'), ('MYR', 'MYR'), ('NOK', 'NOK'), ('NZD', 'NZD'), ('PHP', 'PHP'), ('PLN', 'PLN'), ('RON', 'RON'), ('SEK', 'SEK'), ('SGD', 'SGD'), ('THB', 'THB'), ('TRY', 'TRY'), ('USD', 'USD'), ('ZAR', 'ZAR')], max_length=3)),
                ('start_date', models.DateField(null=True)),
                ('day', models.DateField(null=True)),
                ('opening_balance', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('closing_balance', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('final', models.BooleanField()),
                ('created_time', models.DateTimeField()),
                ('account', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.account', when_deleted='cascade')),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('import_batch', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.importbatch', when_deleted='cascade')),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'account', 'day', 'id'], name='statement_by_day'), models.Index(fields=['company', 'import_batch'], name='statement_by_import')],
            },
        ),
        companies.models.tenancy.CompanyKeys(["PendingBefore", "Statement"]),
    ]
