"""The triggers of closed months again, where they were made before they saw TRUNCATE and months without postings."""

import companies.models.tenancy
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [('ledger', '0002_rule_splits')]

    operations = [companies.models.tenancy.run_script(__file__, 'closed_months.sql')]
