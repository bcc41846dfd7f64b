"""The database itself refuses to change or delete a row of the audit log."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("companies", "0001_initial")]

    operations = [
        migrations.RunSQL(
            """
            CREATE FUNCTION companies_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
            END $$;
            CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON companies_auditentry
                FOR EACH ROW EXECUTE FUNCTION companies_audit_is_append_only();
            """,
            """
            DROP TRIGGER audit_is_append_only ON companies_auditentry;
            DROP FUNCTION companies_audit_is_append_only();
            """,
        )
    ]
