"""Late exchange rates convert closed months and change nothing else there; recurring revenue of closed months stays."""

import companies.models.tenancy
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('ledger', '0004_copied_companies')]

    operations = [
        companies.models.tenancy.run_script(__file__, 'closed_months.sql'),
        companies.models.tenancy.run_script(__file__, 'late_rates.sql'),
    ]
