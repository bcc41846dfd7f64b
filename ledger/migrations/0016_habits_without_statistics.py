"""The functions that keep habits, where they were made before they asked for parts by both columns of their index."""

from importlib import import_module

from django.db import migrations

TRIGGERS = import_module("ledger.migrations.0015_habits").TRIGGERS


class Migration(migrations.Migration):
    dependencies = [("ledger", "0015_habits")]

    operations = [migrations.RunSQL("".join(TRIGGERS.values()), migrations.RunSQL.noop)]
