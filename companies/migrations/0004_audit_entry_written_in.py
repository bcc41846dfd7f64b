"""Every row of the audit log says which transaction wrote it.

So what is kept of a company could be told from what had changed since, until 0008 numbered the rows in the order of their
commits. Rows from before have none.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("companies", "0003_api_key_last_updated")]

    operations = [
        # First the column, then its default: in one step the table would be written anew.
        migrations.RunSQL(
            """
            ALTER TABLE companies_auditentry ADD COLUMN written_in xid8;
            ALTER TABLE companies_auditentry ALTER COLUMN written_in SET DEFAULT pg_current_xact_id();
            CREATE INDEX audit_entry_by_transaction ON companies_auditentry (company_id, written_in);
            """,
            "ALTER TABLE companies_auditentry DROP COLUMN written_in;",
        )
    ]
