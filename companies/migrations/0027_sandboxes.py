from django.db import migrations, models

DELETABLE = """
    CREATE OR REPLACE FUNCTION companies_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP = 'DELETE' THEN
            IF current_setting('tidebook.deleted_company', true) = OLD.company_id::text
               AND EXISTS (SELECT 1 FROM companies_company WHERE id = OLD.company_id AND system_status = 'sandbox') THEN
                RETURN OLD;
            END IF;
        END IF;
        RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
    END $$;
"""
APPEND_ONLY = """
    CREATE OR REPLACE FUNCTION companies_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
    END $$;
"""


class Migration(migrations.Migration):
    """A sandbox may have a day of its own, and its log is deleted with it."""

    dependencies = [("companies", "0026_plain_texts")]

    operations = [
        migrations.AddField("company", "test_today", models.DateField(null=True)),
        migrations.AddField("company", "copied_company_id", models.UUIDField(null=True, editable=False)),
        migrations.AddConstraint(
            model_name="company",
            constraint=models.CheckConstraint(
                condition=models.Q(("test_today", None), ("system_status", "sandbox"), _connector="OR"),
                name="company_test_today_in_sandbox",
            ),
        ),
        migrations.RunSQL(DELETABLE, APPEND_ONLY),
    ]
