"""Commentary on monthly reports, and links that show a report without sign-in."""

import companies.models.tenancy
import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0026_plain_texts'),
        ('ledger', '0030_plain_texts'),
    ]

    operations = [
        migrations.CreateModel(
            name='ReportCommentary',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('month', models.DateField()),
                ('text', models.TextField()),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('company', 'month'), name='report_commentary_once')],
            },
        ),
        migrations.CreateModel(
            name='ReportLink',
            fields=[
                ('created_time', models.DateTimeField()),
                ('created_user_id', models.CharField(max_length=64, null=True)),
                ('last_updated_time', models.DateTimeField()),
                ('last_updated_user_id', models.CharField(max_length=64, null=True)),
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('month', models.DateField()),
                ('permissions', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), size=None)),
                ('digest', models.CharField(max_length=64)),
                ('expires_time', models.DateTimeField()),
                ('closing', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.closing', when_deleted='restrict')),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
            ],
            options={
                'indexes': [models.Index(fields=['company', 'month'], name='report_link_by_month')],
                'constraints': [models.UniqueConstraint(fields=('company', 'digest'), name='report_link_once')],
            },
        ),
        companies.models.tenancy.CompanyKeys(["ReportCommentary", "ReportLink"]),
    ]
