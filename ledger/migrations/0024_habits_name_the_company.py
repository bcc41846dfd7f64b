"""The functions that keep habits, where they were made before each of their tables was told the company by its value.

On a cluster a movement's parts were asked of all machines, which cannot number them: nothing could be categorized there.
"""

from importlib import import_module

from django.db import migrations

STATEMENTS = import_module("ledger.migrations.0015_habits").STATEMENTS


class Migration(migrations.Migration):
    dependencies = [("ledger", "0023_what_does_not_belong_together")]

    operations = [migrations.RunSQL(STATEMENTS, migrations.RunSQL.noop)]
