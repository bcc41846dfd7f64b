"""Rules that split the amount, set a service period or take the counterparty from the transaction."""


import companies.models.tenancy
import django.db.models.deletion
from decimal import Decimal
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0001_schema'),
        ('ledger', '0001_schema'),
    ]

    operations = [
        migrations.CreateModel(
            name='RuleSplit',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('position', models.SmallIntegerField()),
                ('pl_type', models.CharField(choices=[('revenue', 'Revenue'), ('cogs', 'Cogs'), ('cac', 'Cac'), ('pd', 'Pd'), ('ga', 'Ga'), ('no', 'No'), ('neutral', 'Neutral')], max_length=10)),
                ('percent', models.DecimalField(decimal_places=4, max_digits=7, null=True)),
                ('amount', models.DecimalField(decimal_places=4, max_digits=19, null=True)),
                ('category', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.category', when_deleted='restrict')),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('rule', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.categorizationrule', when_deleted='cascade')),
            ],
        ),
        migrations.AddIndex(
            model_name='rulesplit',
            index=models.Index(condition=models.Q(('category__isnull', False)), fields=['company', 'category'], name='rule_split_by_category'),
        ),
        migrations.AddConstraint(
            model_name='rulesplit',
            constraint=models.UniqueConstraint(fields=('company', 'rule', 'position'), name='rule_split_once'),
        ),
        migrations.AddConstraint(
            model_name='rulesplit',
            constraint=models.CheckConstraint(condition=models.Q(('pl_type__in', ['revenue', 'cogs', 'cac', 'pd', 'ga', 'no', 'neutral'])), name='rule_split_pl_type_known'),
        ),
        migrations.AddConstraint(
            model_name='rulesplit',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('amount__gt', 0), ('amount__isnull', False), ('percent__isnull', True)), models.Q(('amount__isnull', True), ('percent__gt', 0), ('percent__isnull', False), ('percent__lte', Decimal('100'))), _connector='OR'), name='rule_split_one_share'),
        ),
        companies.models.tenancy.CompanyKeys(["RuleSplit"]),
        migrations.AddField(
            model_name='categorizationrule',
            name='counterparty_from',
            field=models.CharField(choices=[('fromTo', 'From To')], max_length=10, null=True),
        ),
        migrations.AddField(
            model_name='categorizationrule',
            name='service_period_months',
            field=models.SmallIntegerField(null=True),
        ),
        migrations.AddField(
            model_name='categorizationrule',
            name='service_period_start',
            field=models.CharField(choices=[('payment', 'payment'), ('nextMonth', 'nextMonth')], max_length=10, null=True),
        ),
        migrations.AddConstraint(
            model_name='categorizationrule',
            constraint=models.CheckConstraint(condition=models.Q(('counterparty_from__isnull', True), models.Q(('counterparty_from__in', ['fromTo']), ('given_counterparty__isnull', True)), _connector='OR'), name='rule_counterparty_once'),
        ),
        migrations.AddConstraint(
            model_name='categorizationrule',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('service_period_months__isnull', True), ('service_period_start__isnull', True)), models.Q(('date_rule', 'transactionDate'), ('service_period_months__gte', 1), ('service_period_months__lte', 360), ('service_period_start__in', ['payment', 'nextMonth']), ('service_period_start__isnull', False)), _connector='OR'), name='rule_service_period_whole'),
        ),
    ]
