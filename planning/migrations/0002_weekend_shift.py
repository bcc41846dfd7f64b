"""On which day an occurrence of a weekend is expected."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0001_schema'),
        ('ledger', '0002_rule_splits'),
        ('planning', '0001_schema'),
    ]

    operations = [
        migrations.AddField(
            model_name='plannedtransaction',
            name='weekend_shift',
            field=models.CharField(choices=[('none', 'None'), ('before', 'Before'), ('after', 'After')], default='none', max_length=6),
        ),
        migrations.AddConstraint(
            model_name='plannedtransaction',
            constraint=models.CheckConstraint(condition=models.Q(('weekend_shift__in', ['none', 'before', 'after'])), name='planned_weekend_shift_known'),
        ),
    ]
