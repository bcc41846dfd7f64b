"""Imports of open invoices, and which planned transaction came from which."""

import companies.models.tenancy
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0001_schema'),
        ('ledger', '0003_closed_month_triggers'),
        ('planning', '0002_weekend_shift'),
    ]

    operations = [
        migrations.CreateModel(
            name='InvoiceImport',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('kind', models.CharField(choices=[('receivables', 'receivables'), ('payables', 'payables')], max_length=11)),
                ('filename', models.CharField(max_length=255)),
                ('count', models.IntegerField()),
                ('duplicates', models.IntegerField()),
                ('left_out', models.IntegerField()),
                ('counterparty_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('undone_time', models.DateTimeField(null=True)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
            ],
        ),
        migrations.AddField(
            model_name='plannedtransaction',
            name='invoice_import',
            field=companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='planning.invoiceimport', when_deleted='restrict'),
        ),
        migrations.AddIndex(
            model_name='plannedtransaction',
            index=models.Index(condition=models.Q(('invoice_import__isnull', False)), fields=['company', 'invoice_import'], name='planned_by_invoice_import'),
        ),
        migrations.AddIndex(
            model_name='invoiceimport',
            index=models.Index(fields=['company', 'created_time', 'id'], name='invoice_import_by_time'),
        ),
        migrations.AddConstraint(
            model_name='invoiceimport',
            constraint=models.CheckConstraint(condition=models.Q(('kind__in', ('receivables', 'payables'))), name='invoice_import_kind_known'),
        ),
        companies.models.tenancy.CompanyKeys(["InvoiceImport"]),
        companies.models.tenancy.CompanyReferences(["plannedtransaction.invoice_import"]),
    ]
