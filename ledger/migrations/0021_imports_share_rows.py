"""What imports have in common, so that each can be undone alone; and whether somebody said that an account is cash."""

import companies.models.tenancy
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0021_first_hour'),
        ('ledger', '0020_what_imports_told'),
    ]

    operations = [
        migrations.RunSQL(companies.models.tenancy.SEQUENTIAL_MODE_SQL, migrations.RunSQL.noop),
        migrations.AddField(
            model_name='account',
            name='cash_chosen',
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name='statement',
            name='number_given',
            field=models.CharField(max_length=64, null=True),
        ),
        migrations.CreateModel(
            name='KnownBefore',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('transaction_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), size=None)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('import_batch', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.importbatch', when_deleted='cascade')),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'import_batch'], name='known_before_by_import')],
            },
        ),
        companies.models.tenancy.CompanyKeys(["KnownBefore"]),
        migrations.RunSQL(
            "UPDATE ledger_account SET cash_chosen = true "
            "WHERE include_in_cash_balance <> (type IN ('bank', 'cash'))",
            migrations.RunSQL.noop,
        ),
    ]
