import companies.models.tenancy
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

# Migrations of earlier versions; a database with all of them has these tables already.
REPLACED = [
    '0001_schema', '0002_weekend_shift', '0003_invoice_imports', '0004_transfer_accounts',
]


class Migration(migrations.Migration):

    initial = True
    replaces = [('planning', name) for name in REPLACED]

    dependencies = [
        ('companies', '0001_squashed_0003_audit_log_table'),
        ('ledger', '0001_squashed_0008_kept_results'),
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
            options={
                'indexes': [models.Index(fields=['company', 'created_time', 'id'], name='invoice_import_by_time')],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ('receivables', 'payables'))), name='invoice_import_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='PlannedTransaction',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('account', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.account', when_deleted='restrict')),
                ('name', models.CharField(max_length=300)),
                ('start_date', models.DateField()),
                ('amount_value', models.DecimalField(decimal_places=4, max_digits=19)),
                ('amount_currency', models.CharField(choices=[('EUR', 'EUR'), ('AUD', 'AUD'), ('BRL', 'BRL'), ('CAD', 'CAD'), ('CHF', 'CHF'), ('CNY', 'CNY'), ('CZK', 'CZK'), ('DKK', 'DKK'), ('GBP', 'GBP'), ('HKD', 'HKD'), ('HUF', 'HUF'), ('IDR', 'IDR'), ('ILS', 'ILS'), ('INR', 'INR'), ('ISK', 'ISK'), ('JPY', 'JPY'), ('KRW', 'KRW'), ('MXN', 'MXN'), ('MYR', 'MYR'), ('NOK', 'NOK'), ('NZD', 'NZD'), ('PHP', 'PHP'), ('PLN', 'PLN'), ('RON', 'RON'), ('SEK', 'SEK'), ('SGD', 'SGD'), ('THB', 'THB'), ('TRY', 'TRY'), ('USD', 'USD'), ('ZAR', 'ZAR')], max_length=3)),
                ('pass_through_tax_amount', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('category', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.category', when_deleted='restrict')),
                ('counterparty', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.counterparty', when_deleted='restrict')),
                ('rule', models.CharField(choices=[('transactionDate', 'transactionDate'), ('invoiceDate', 'invoiceDate'), ('servicePeriod', 'servicePeriod'), ('custom', 'custom'), ('month', 'month'), ('quarter', 'quarter'), ('year', 'year'), ('previousMonth', 'previousMonth'), ('nextMonth', 'nextMonth')], default='transactionDate', max_length=20)),
                ('rule_start_date', models.DateField(null=True)),
                ('rule_end_date', models.DateField(null=True)),
                ('rule_invoice_date', models.DateField(null=True)),
                ('frequency', models.CharField(choices=[('day', 'Day'), ('week', 'Week'), ('month', 'Month'), ('year', 'Year')], max_length=5, null=True)),
                ('interval', models.SmallIntegerField(default=1)),
                ('last_day_of_month', models.BooleanField(default=False)),
                ('end_date', models.DateField(null=True)),
                ('end_count', models.IntegerField(null=True)),
                ('source', models.CharField(choices=[('manual', 'Manual'), ('api', 'Api')], max_length=10)),
                ('external_id', models.CharField(max_length=200, null=True)),
                ('external_subscription_id', models.CharField(max_length=200, null=True)),
                ('external_invoice_id', models.CharField(max_length=200, null=True)),
                ('invoice_date', models.DateField(null=True)),
                ('payment_terms', models.SmallIntegerField(null=True)),
                ('service_start_date', models.DateField(null=True)),
                ('service_end_date', models.DateField(null=True)),
                ('external_data', models.JSONField(null=True)),
                ('auto_settle', models.BooleanField(default=True)),
                ('settled_by', models.CharField(choices=[('transaction', 'Transaction'), ('category', 'Category')], default='transaction', max_length=11)),
                ('settled_value', models.DecimalField(decimal_places=4, default=0, max_digits=19)),
                ('is_closed', models.BooleanField(default=False)),
                ('weekend_shift', models.CharField(choices=[('none', 'None'), ('before', 'Before'), ('after', 'After')], default='none', max_length=6)),
                ('invoice_import', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='planning.invoiceimport', when_deleted='restrict')),
                ('transfer_account', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.account', when_deleted='restrict')),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'account'], name='planned_by_account'), models.Index(condition=models.Q(('category__isnull', False)), fields=['company', 'category'], name='planned_by_category'), models.Index(condition=models.Q(('counterparty__isnull', False)), fields=['company', 'counterparty'], name='planned_by_counterparty'), models.Index(condition=models.Q(('frequency__isnull', True), ('invoice_date__isnull', False), ('settled_by', 'transaction'), ('is_closed', False)), fields=['company', 'counterparty'], name='open_invoices'), models.Index(condition=models.Q(('invoice_import__isnull', False)), fields=['company', 'invoice_import'], name='planned_by_invoice_import'), models.Index(condition=models.Q(('transfer_account__isnull', False)), fields=['company', 'transfer_account'], name='planned_by_transfer_account')],
                'constraints': [models.CheckConstraint(condition=models.Q(('source__in', ['manual', 'api'])), name='planned_source_known'), models.CheckConstraint(condition=models.Q(('amount_currency__in', ['EUR', 'AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'GBP', 'HKD', 'HUF', 'IDR', 'ILS', 'INR', 'ISK', 'JPY', 'KRW', 'MXN', 'MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'RON', 'SEK', 'SGD', 'THB', 'TRY', 'USD', 'ZAR'])), name='planned_currency_known'), models.CheckConstraint(condition=models.Q(('amount_value__lt', 1000000000000000)), name='planned_amount_a_number'), models.CheckConstraint(condition=models.Q(('rule__in', ['transactionDate', 'invoiceDate', 'servicePeriod', 'custom', 'month', 'quarter', 'year', 'previousMonth', 'nextMonth'])), name='planned_rule_known'), models.CheckConstraint(condition=models.Q(('rule_start_date__lte', models.F('rule_end_date'))), name='planned_rule_period_in_order'), models.CheckConstraint(condition=models.Q(('service_start_date__lte', models.F('service_end_date'))), name='planned_service_period_in_order'), models.CheckConstraint(condition=models.Q(('frequency__in', ['day', 'week', 'month', 'year'])), name='planned_frequency_known'), models.CheckConstraint(condition=models.Q(('interval__gte', 1), ('interval__lte', 1000)), name='planned_interval_in_range'), models.CheckConstraint(condition=models.Q(('end_count__gte', 1)), name='planned_count_positive'), models.CheckConstraint(condition=models.Q(('payment_terms__gte', 0), ('payment_terms__lte', 999)), name='planned_terms_in_range'), models.CheckConstraint(condition=models.Q(('end_date__isnull', True), ('end_count__isnull', True), _connector='OR'), name='planned_ends_once'), models.CheckConstraint(condition=models.Q(('last_day_of_month', False), models.Q(('frequency__in', ('month', 'year')), ('frequency__isnull', False)), _connector='OR'), name='planned_last_day_of_months_only'), models.CheckConstraint(condition=models.Q(('frequency__isnull', False), models.Q(('end_count__isnull', True), ('end_date__isnull', True), ('interval', 1), ('last_day_of_month', False)), _connector='OR'), name='planned_once_has_no_rule'), models.CheckConstraint(condition=models.Q(('pass_through_tax_amount__isnull', True), models.Q(('amount_value__gte', 0), ('pass_through_tax_amount__gte', 0), ('pass_through_tax_amount__lte', models.F('amount_value'))), models.Q(('amount_value__lt', 0), ('pass_through_tax_amount__gte', models.F('amount_value')), ('pass_through_tax_amount__lte', 0)), _connector='OR'), name='planned_tax_within_amount'), models.CheckConstraint(condition=models.Q(('settled_by', 'transaction'), models.Q(('category__isnull', False), ('settled_by', 'category')), _connector='OR'), name='planned_total_has_category'), models.CheckConstraint(condition=models.Q(('weekend_shift__in', ['none', 'before', 'after'])), name='planned_weekend_shift_known'), models.CheckConstraint(condition=models.Q(('transfer_account__isnull', True), models.Q(('category__isnull', True), ('invoice_date__isnull', True), ('settled_by', 'transaction')), _connector='OR'), name='planned_transfer_is_no_flow'), models.CheckConstraint(condition=models.Q(('account__isnull', True), ('transfer_account__isnull', True), models.Q(('account', models.F('transfer_account')), _negated=True), _connector='OR'), name='planned_transfer_has_two_accounts')],
            },
        ),
        migrations.CreateModel(
            name='PlannedOverride',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('planned', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='planning.plannedtransaction', when_deleted='cascade')),
                ('original_date', models.DateField()),
                ('skipped', models.BooleanField(null=True)),
                ('date', models.DateField(null=True)),
                ('amount_value', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('account', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.account', when_deleted='restrict')),
                ('category', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.category', when_deleted='restrict')),
                ('name', models.CharField(max_length=300, null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('account__isnull', False)), fields=['company', 'account'], name='override_by_account'), models.Index(condition=models.Q(('category__isnull', False)), fields=['company', 'category'], name='override_by_category'), models.Index(condition=models.Q(('date__isnull', False)), fields=['company', 'date'], name='override_by_moved_date')],
                'constraints': [models.UniqueConstraint(fields=('company', 'planned', 'original_date'), name='override_once_a_date')],
            },
        ),
        migrations.CreateModel(
            name='InvoiceFile',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('file', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.file', when_deleted='cascade')),
                ('planned', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='planning.plannedtransaction', when_deleted='cascade')),
                ('direction', models.CharField(choices=[('in', 'In'), ('out', 'Out')], max_length=3)),
                ('own_vat_id', models.CharField(max_length=50, null=True)),
                ('party_vat_id', models.CharField(max_length=50, null=True)),
                ('party_iban', models.CharField(max_length=34, null=True)),
                ('payment_reference', models.CharField(max_length=300, null=True)),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('company', 'file'), name='invoice_file_planned_once'), models.UniqueConstraint(fields=('company', 'planned'), name='invoice_file_of_planned'), models.CheckConstraint(condition=models.Q(('direction__in', ['in', 'out'])), name='invoice_file_direction_known')],
            },
        ),
        migrations.CreateModel(
            name='PlanItem',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('month', models.DateField()),
                ('pl_type', models.CharField(choices=[('revenue', 'Revenue'), ('cogs', 'Cogs'), ('cac', 'Cac'), ('pd', 'Pd'), ('ga', 'Ga'), ('no', 'No'), ('neutral', 'Neutral')], max_length=10)),
                ('category', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.category', when_deleted='restrict')),
                ('amount_type', models.CharField(choices=[('fixed', 'fixed'), ('changeByAmount', 'changeByAmount'), ('relative', 'relative')], max_length=20)),
                ('amount_value', models.DecimalField(decimal_places=4, max_digits=19)),
                ('amount_currency', models.CharField(choices=[('EUR', 'EUR'), ('AUD', 'AUD'), ('BRL', 'BRL'), ('CAD', 'CAD'), ('CHF', 'CHF'), ('CNY', 'CNY'), ('CZK', 'CZK'), ('DKK', 'DKK'), ('GBP', 'GBP'), ('HKD', 'HKD'), ('HUF', 'HUF'), ('IDR', 'IDR'), ('ILS', 'ILS'), ('INR', 'INR'), ('ISK', 'ISK'), ('JPY', 'JPY'), ('KRW', 'KRW'), ('MXN', 'MXN'), ('MYR', 'MYR'), ('NOK', 'NOK'), ('NZD', 'NZD'), ('PHP', 'PHP'), ('PLN', 'PLN'), ('RON', 'RON'), ('SEK', 'SEK'), ('SGD', 'SGD'), ('THB', 'THB'), ('TRY', 'TRY'), ('USD', 'USD'), ('ZAR', 'ZAR')], max_length=3)),
                ('relative_change', models.DecimalField(decimal_places=10, max_digits=16, null=True)),
                ('duration', models.IntegerField(null=True)),
                ('frequency', models.IntegerField(default=1)),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'category'], name='plan_item_by_category'), models.Index(fields=['company', 'month'], name='plan_item_by_month')],
                'constraints': [models.CheckConstraint(condition=models.Q(('month__day', 1)), name='plan_item_month_is_first_day'), models.CheckConstraint(condition=models.Q(('pl_type__in', ['revenue', 'cogs', 'cac', 'pd', 'ga', 'no', 'neutral'])), name='plan_item_pl_type_known'), models.CheckConstraint(condition=models.Q(('amount_type__in', ('fixed', 'changeByAmount', 'relative'))), name='plan_item_amount_type_known'), models.CheckConstraint(condition=models.Q(('amount_currency__in', ['EUR', 'AUD', 'BRL', 'CAD', 'CHF', 'CNY', 'CZK', 'DKK', 'GBP', 'HKD', 'HUF', 'IDR', 'ILS', 'INR', 'ISK', 'JPY', 'KRW', 'MXN', 'MYR', 'NOK', 'NZD', 'PHP', 'PLN', 'RON', 'SEK', 'SGD', 'THB', 'TRY', 'USD', 'ZAR'])), name='plan_item_currency_known'), models.CheckConstraint(condition=models.Q(('amount_value__lt', 1000000000000000)), name='plan_item_amount_a_number'), models.CheckConstraint(condition=models.Q(models.Q(('amount_type', 'relative'), _negated=True), ('relative_change__isnull', False), _connector='OR'), name='plan_item_relative_has_change'), models.CheckConstraint(condition=models.Q(('duration__gte', 1)), name='plan_item_duration_positive'), models.CheckConstraint(condition=models.Q(('frequency__gte', 0)), name='plan_item_frequency_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Scenario',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('name', models.CharField(max_length=300)),
                ('changes', models.JSONField()),
                ('adoption_id', models.UUIDField(null=True)),
                ('adopted_time', models.DateTimeField(null=True)),
                ('adoption', models.JSONField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name='Settlement',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('planned', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='planning.plannedtransaction', when_deleted='cascade')),
                ('original_date', models.DateField()),
                ('transaction', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.transaction', when_deleted='restrict')),
                ('amount_value', models.DecimalField(decimal_places=4, max_digits=19)),
                ('transaction_amount_value', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('date', models.DateField(null=True)),
                ('reason', models.CharField(max_length=500, null=True)),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'planned'], name='settlement_by_planned'), models.Index(condition=models.Q(('transaction__isnull', False)), fields=['company', 'transaction'], name='settlement_by_transaction'), models.Index(condition=models.Q(('date__isnull', False)), fields=['company', 'date'], name='write_off_by_date')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('transaction__isnull', False)), fields=('company', 'planned', 'original_date', 'transaction'), name='settlement_once_a_pair'), models.CheckConstraint(condition=models.Q(models.Q(('date__isnull', False), ('transaction__isnull', True), ('transaction_amount_value__isnull', True)), models.Q(('date__isnull', True), ('transaction__isnull', False), ('transaction_amount_value__isnull', False)), _connector='OR'), name='settlement_payment_or_write_off'), models.CheckConstraint(condition=models.Q(('amount_value', 0), _negated=True), name='settlement_of_something'), models.CheckConstraint(condition=models.Q(('amount_value__lt', 1000000000000000)), name='settlement_amount_a_number')],
            },
        ),
        companies.models.tenancy.CompanyKeys([
            'PlannedTransaction', 'PlannedOverride', 'PlanItem', 'Scenario', 'Settlement', 'InvoiceFile',
            'InvoiceImport',
        ]),
    ]
