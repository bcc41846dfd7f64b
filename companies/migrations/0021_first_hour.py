"""Whoever does not need the steps of the first hour puts them away."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0020_demonstration'),
    ]

    operations = [
        migrations.AddField(
            model_name='company',
            name='first_hour_over',
            field=models.BooleanField(default=False, editable=False),
        ),
    ]
