"""What an entry of the log was about is kept without a reference to it: months of the log may be taken out.

The reference was the only one to the company too; where it was, the company gets its own.
"""

from django.db import migrations

TIE = """
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'ledger_transactiontouched_company') THEN
            ALTER TABLE ledger_transactiontouched ADD CONSTRAINT ledger_transactiontouched_company
                FOREIGN KEY (company_id) REFERENCES companies_company (id);
        END IF;
    END $$;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0019_audit_log_by_month"),
        ("ledger", "0018_transactions_touched"),
    ]

    operations = [migrations.RunSQL(TIE, migrations.RunSQL.noop)]
