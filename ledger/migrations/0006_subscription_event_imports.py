"""Imports of subscription events from files, and which event came from which."""

import companies.models.tenancy
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0001_schema'),
        ('ledger', '0005_late_rates'),
    ]

    operations = [
        migrations.CreateModel(
            name='SubscriptionEventImport',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('filename', models.CharField(max_length=255)),
                ('count', models.IntegerField()),
                ('duplicates', models.IntegerField()),
                ('left_out', models.IntegerField()),
                ('customer_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('product_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('subscription_ids', django.contrib.postgres.fields.ArrayField(base_field=models.UUIDField(), default=list, size=None)),
                ('undone_time', models.DateTimeField(null=True)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
            ],
        ),
        migrations.AddField(
            model_name='subscriptionevent',
            name='event_import',
            field=companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.subscriptioneventimport', when_deleted='restrict'),
        ),
        migrations.AddIndex(
            model_name='subscriptionevent',
            index=models.Index(condition=models.Q(('event_import__isnull', False)), fields=['company', 'event_import'], name='subscription_event_by_import'),
        ),
        migrations.AddIndex(
            model_name='subscriptioneventimport',
            index=models.Index(fields=['company', 'created_time', 'id'], name='event_import_by_time'),
        ),
        companies.models.tenancy.CompanyKeys(["SubscriptionEventImport"]),
        companies.models.tenancy.CompanyReferences(["subscriptionevent.event_import"]),
    ]
