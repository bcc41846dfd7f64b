"""The rows of a company's log are numbered in the order in which they were committed.

Times and sequences cannot say it: what began first may be committed last. The trigger lets the transactions of one
company that log something finish one after the other, and then counts on. The numbers stay true where the database is
restored elsewhere, or a company's rows are moved to another machine.
"""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("companies", "0007_one_membership_by_code")]

    operations = [
        migrations.AddField("auditentry", "number", models.BigIntegerField(db_default=0, editable=False)),
        migrations.RunSQL(
            """
            ALTER TABLE companies_auditentry DISABLE TRIGGER audit_is_append_only;
            UPDATE companies_auditentry entry SET number = numbered.number FROM (
                SELECT company_id, id, row_number() OVER (
                    PARTITION BY company_id ORDER BY written_in NULLS FIRST, time, id
                ) AS number FROM companies_auditentry
            ) numbered WHERE entry.company_id = numbered.company_id AND entry.id = numbered.id;
            ALTER TABLE companies_auditentry ENABLE TRIGGER audit_is_append_only;

            CREATE FUNCTION companies_audit_is_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
            BEGIN
                PERFORM pg_advisory_xact_lock(hashtextextended('log:' || NEW.company_id, 0));
                EXECUTE format('SELECT coalesce(max(number), 0) + 1 FROM %s WHERE company_id = $1', TG_RELID::regclass)
                    INTO NEW.number USING NEW.company_id;
                RETURN NEW;
            END $$;
            CREATE TRIGGER audit_is_numbered BEFORE INSERT ON companies_auditentry
                FOR EACH ROW EXECUTE FUNCTION companies_audit_is_numbered();
            """,
            """
            DROP TRIGGER audit_is_numbered ON companies_auditentry;
            DROP FUNCTION companies_audit_is_numbered();
            """,
        ),
        migrations.AddConstraint(
            "auditentry",
            models.UniqueConstraint(fields=["company", "number"], name="audit_entry_numbered_once"),
        ),
    ]
