"""What people said does not belong together, so that it is not proposed again."""

import companies.models.tenancy
import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0021_first_hour'),
        ('ledger', '0022_habits_in_the_order_of_their_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='RefusedMatch',
            fields=[
                ('id', models.UUIDField(default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False)),
                ('other_id', models.UUIDField()),
                ('day', models.DateField(null=True)),
                ('company', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='companies.company')),
                ('transaction', companies.models.tenancy.CompanyForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='ledger.transaction', when_deleted='cascade')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('company', 'transaction', 'other_id', 'day'), name='match_refused_once', nulls_distinct=False)],
            },
        ),
        companies.models.tenancy.CompanyKeys(["RefusedMatch"]),
    ]
