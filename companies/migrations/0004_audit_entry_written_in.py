"""Every row of the audit log says which transaction wrote it.

So what is kept of a company can be told from what has changed since, whatever order transactions end in:
``AuditEntry.objects.any_between``. Rows from before have none: whoever keeps something began later. The column is not in
the model; nothing but that one query reads it.
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
