"""Categories say whether they are financing, and every company gets one for equity and loans."""

from django.db import migrations, models

import companies.models.tenancy

# New companies get the same row from STARTING_CATEGORIES, directly behind the tax payments.
ADD_CATEGORY = """
    INSERT INTO ledger_category (company_id, id, name, emoji, pl_types, system, system_key, financing, "order",
                                 created_time, last_updated_time)
    SELECT id, gen_random_uuid(), 'Equity and loans', '🌱', '{neutral}', true, 'financing', true, 18, now(), now()
      FROM companies_company
    ON CONFLICT DO NOTHING
"""


class Migration(migrations.Migration):
    dependencies = [("companies", "0021_first_hour"), ("ledger", "0025_amounts_are_numbers")]

    operations = [
        migrations.RunSQL(companies.models.tenancy.SEQUENTIAL_MODE_SQL, migrations.RunSQL.noop),
        migrations.AddField("category", "financing", models.BooleanField(default=False)),
        migrations.RunSQL(ADD_CATEGORY, migrations.RunSQL.noop),
    ]
