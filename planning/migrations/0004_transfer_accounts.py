"""The other own account of planned transfers."""


import companies.models.tenancy
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0001_schema'),
        ('ledger', '0006_subscription_event_imports'),
        ('planning', '0003_invoice_imports'),
    ]

    operations = [
        migrations.AddField(
            model_name='plannedtransaction',
            name='transfer_account',
            field=companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.account', when_deleted='restrict'),
        ),
        migrations.AddIndex(
            model_name='plannedtransaction',
            index=models.Index(condition=models.Q(('transfer_account__isnull', False)), fields=['company', 'transfer_account'], name='planned_by_transfer_account'),
        ),
        migrations.AddConstraint(
            model_name='plannedtransaction',
            constraint=models.CheckConstraint(condition=models.Q(('transfer_account__isnull', True), models.Q(('category__isnull', True), ('invoice_date__isnull', True), ('settled_by', 'transaction')), _connector='OR'), name='planned_transfer_is_no_flow'),
        ),
        migrations.AddConstraint(
            model_name='plannedtransaction',
            constraint=models.CheckConstraint(condition=models.Q(('account__isnull', True), ('transfer_account__isnull', True), models.Q(('account', models.F('transfer_account')), _negated=True), _connector='OR'), name='planned_transfer_has_two_accounts'),
        ),
        companies.models.tenancy.CompanyReferences(["plannedtransaction.transfer_account"]),
    ]
