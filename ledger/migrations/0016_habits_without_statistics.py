"""The functions that keep habits, where they were made before they asked for parts by both columns of their index."""

from importlib import import_module

from django.db import migrations

STATEMENTS = import_module("ledger.migrations.0015_habits").STATEMENTS


class Migration(migrations.Migration):
    dependencies = [("ledger", "0015_habits")]

    operations = [migrations.RunSQL(STATEMENTS, migrations.RunSQL.noop)]
