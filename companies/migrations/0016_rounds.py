"""Nightly work in parts: which round of it a company had last."""

import django.db.models.deletion
from django.db import migrations, models

import companies.models.tenancy


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0015_profiles'),
    ]

    operations = [
        migrations.CreateModel(
            name='LastRound',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('work', models.CharField(max_length=40)),
                ('name', models.CharField(max_length=40)),
                ('time', models.DateTimeField()),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('company', 'work'), name='one_last_round_of_each_work')],
            },
        ),
        companies.models.tenancy.CompanyKeys(["LastRound"]),
    ]
