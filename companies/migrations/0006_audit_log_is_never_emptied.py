"""The database refuses to empty the audit log too: TRUNCATE fires no trigger that stands FOR EACH ROW."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("companies", "0005_one_form_of_an_email")]

    operations = [
        migrations.RunSQL(
            """
            CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry
                FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
            """,
            "DROP TRIGGER audit_is_never_emptied ON companies_auditentry;",
        )
    ]
