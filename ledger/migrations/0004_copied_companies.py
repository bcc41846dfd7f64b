"""Triggers of derived tables that compute nothing for a company that is copied with its derived rows."""

import companies.models.tenancy
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('ledger', '0003_closed_month_triggers')]

    operations = [
        companies.models.tenancy.run_script(__file__, 'derived_tables.sql'),
        companies.models.tenancy.run_script(__file__, 'categorization_history.sql'),
    ]
