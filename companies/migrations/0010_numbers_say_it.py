"""The numbers of the log's rows tell what was committed since; which transaction wrote a row is no longer asked."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("companies", "0009_auto_categorize")]

    operations = [
        migrations.RunSQL(
            "ALTER TABLE companies_auditentry DROP COLUMN written_in;",
            """
            ALTER TABLE companies_auditentry ADD COLUMN written_in xid8;
            ALTER TABLE companies_auditentry ALTER COLUMN written_in SET DEFAULT pg_current_xact_id();
            CREATE INDEX audit_entry_by_transaction ON companies_auditentry (company_id, written_in);
            """,
        )
    ]
