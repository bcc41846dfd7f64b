"""Members and keys are found by their own id in a directory, which lies on every machine of a cluster."""

from django.db import migrations, models

from companies.models.tenancy import COMPANY_TABLE, is_distributed

FILL = """
    INSERT INTO companies_directoryentry (subject, company_id)
    SELECT user_id, company_id FROM companies_membership WHERE user_id IS NOT NULL
     UNION ALL
    SELECT id, company_id FROM companies_apikey
"""
HELD = """
    ALTER TABLE companies_{table} ADD CONSTRAINT companies_{table}_listed
        FOREIGN KEY (company_id, {column}) REFERENCES companies_directoryentry (company_id, subject)
"""


def copy_to_every_machine(apps, schema_editor):
    """Where companies are distributed: else no row of theirs could refer to the directory."""
    if is_distributed(schema_editor.connection, COMPANY_TABLE):
        schema_editor.execute("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
        schema_editor.execute("SELECT create_reference_table('companies_directoryentry')")


class Migration(migrations.Migration):
    dependencies = [("companies", "0017_failed_requests")]

    operations = [
        migrations.CreateModel(
            name="DirectoryEntry",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "subject", "company_id", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("subject", models.UUIDField()),
                ("company_id", models.UUIDField()),
            ],
            options={
                "verbose_name_plural": "directory entries",
                "indexes": [models.Index(fields=["company_id"], name="directory_by_company")],
            },
        ),
        migrations.RunPython(copy_to_every_machine, migrations.RunPython.noop),
        migrations.RunSQL(FILL, migrations.RunSQL.noop),
        migrations.RunSQL(HELD.format(table="membership", column="user_id"), migrations.RunSQL.noop),
        migrations.RunSQL(HELD.format(table="apikey", column="id"), migrations.RunSQL.noop),
        migrations.RemoveIndex(model_name="apikey", name="api_key_by_id"),
    ]
