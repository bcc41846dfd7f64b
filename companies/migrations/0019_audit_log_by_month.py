"""The audit log is partitioned by the month of its entries' time, so that old months can be taken out.

Every unique key of a partitioned table holds the column that it is partitioned by, so the primary key is
(company_id, id, time). A number is unique because one trigger gives it, one transaction of a company after the other,
and counts on from companies_logmonth. References to an entry end: they would keep its month from being taken out.
"""

import django.db.models.deletion
import sqlparse
from django.db import migrations, models

from companies.models.tenancy import COMPANY_TABLE, build_distribution_statement, is_distributed
from companies.audit import partitions

# The order of columns stays as it was; the old table goes before the new one's keys and indexes take their names.
REFERENCES = """
    SELECT format('ALTER TABLE %%s DROP CONSTRAINT %%I', conrelid::regclass, conname) FROM pg_constraint
     WHERE confrelid = %s::regclass AND conparentid = 0
"""
SET_ASIDE = """
    ALTER TABLE companies_auditentry RENAME TO companies_auditentry_whole;
    CREATE TABLE companies_auditentry (LIKE companies_auditentry_whole INCLUDING DEFAULTS) PARTITION BY RANGE (time);
    CREATE TABLE companies_auditentry_rest PARTITION OF companies_auditentry DEFAULT;
"""
GUARD = """
    CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON companies_auditentry
        FOR EACH ROW EXECUTE FUNCTION companies_audit_is_append_only();
    CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry
        FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
    CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry_rest
        FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
"""
MOVE = "INSERT INTO companies_auditentry SELECT * FROM companies_auditentry_whole"
SUM_UP = """
    INSERT INTO companies_logmonth (company_id, month, first_number, last_number)
    SELECT company_id, date_trunc('month', time AT TIME ZONE 'UTC')::date, min(number), max(number)
      FROM companies_auditentry GROUP BY 1, 2
"""
KEYS = """
    DROP TABLE companies_auditentry_whole;
    ALTER TABLE companies_auditentry ADD PRIMARY KEY (company_id, id, time);
    ALTER TABLE companies_auditentry ADD CONSTRAINT companies_auditentry_company
        FOREIGN KEY (company_id) REFERENCES companies_company (id);
    CREATE INDEX audit_entry_by_number ON companies_auditentry (company_id, number);
    CREATE INDEX audit_entry_by_time ON companies_auditentry (company_id, time, id);
    CREATE INDEX audit_entry_by_entity ON companies_auditentry (company_id, entity_type, entity_id);
    CREATE INDEX audit_entry_by_request ON companies_auditentry (request_id);
"""
NUMBER = """
    CREATE OR REPLACE FUNCTION companies_audit_is_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('log:' || NEW.company_id, 0));
        SELECT coalesce(max(last_number), 0) + 1 INTO NEW.number
          FROM companies_logmonth WHERE company_id = NEW.company_id;
        INSERT INTO companies_logmonth (company_id, month, first_number, last_number)
        VALUES (NEW.company_id, date_trunc('month', NEW.time AT TIME ZONE 'UTC')::date, NEW.number, NEW.number)
        ON CONFLICT (company_id, month) DO UPDATE SET last_number = EXCLUDED.last_number;
        RETURN NEW;
    END $$;
    CREATE TRIGGER audit_is_numbered BEFORE INSERT ON companies_auditentry
        FOR EACH ROW EXECUTE FUNCTION companies_audit_is_numbered();
"""
UNITE = """
    ALTER TABLE companies_auditentry RENAME TO companies_auditentry_parts;
    CREATE TABLE companies_auditentry (LIKE companies_auditentry_parts INCLUDING DEFAULTS);
    INSERT INTO companies_auditentry SELECT * FROM companies_auditentry_parts;
    DROP TABLE companies_auditentry_parts;
    DELETE FROM companies_logmonth;
    ALTER TABLE companies_auditentry ADD PRIMARY KEY (company_id, id);
    ALTER TABLE companies_auditentry ADD CONSTRAINT audit_entry_numbered_once UNIQUE (company_id, number);
    ALTER TABLE companies_auditentry ADD CONSTRAINT companies_auditentry_company
        FOREIGN KEY (company_id) REFERENCES companies_company (id);
    CREATE INDEX audit_entry_by_time ON companies_auditentry (company_id, time, id);
    CREATE INDEX audit_entry_by_entity ON companies_auditentry (company_id, entity_type, entity_id);
    CREATE INDEX audit_entry_by_request ON companies_auditentry (request_id);
    CREATE OR REPLACE FUNCTION companies_audit_is_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        PERFORM pg_advisory_xact_lock(hashtextextended('log:' || NEW.company_id, 0));
        EXECUTE format('SELECT coalesce(max(number), 0) + 1 FROM %s WHERE company_id = $1', TG_RELID::regclass)
            INTO NEW.number USING NEW.company_id;
        RETURN NEW;
    END $$;
    CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON companies_auditentry
        FOR EACH ROW EXECUTE FUNCTION companies_audit_is_append_only();
    CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry
        FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
    CREATE TRIGGER audit_is_numbered BEFORE INSERT ON companies_auditentry
        FOR EACH ROW EXECUTE FUNCTION companies_audit_is_numbered();
"""


def divide(apps, schema_editor):
    """Each entry goes to its month as it is; where companies are distributed, so are the log and its months."""

    def do(*scripts):
        for script in scripts:
            for statement in sqlparse.split(script):  # a cluster takes one at a time
                schema_editor.execute(statement, params=None)

    distributed = is_distributed(schema_editor.connection, COMPANY_TABLE)
    if distributed:
        do("SET LOCAL citus.multi_shard_modify_mode TO 'sequential'")
    do(*(statement for (statement,) in partitions.fetch_partition_rows(REFERENCES, ["companies_auditentry"])))
    do(SET_ASIDE)
    ((now,),) = partitions.fetch_partition_rows("SELECT now()", [])
    ahead = partitions.list_months_ahead(now)
    for month in sorted({*ahead, *partitions.list_months_with_entries("companies_auditentry_whole", end_month=partitions.get_next_month(ahead[-1]))}):
        partitions.create_partition(month)
    if distributed:
        do(build_distribution_statement("companies_auditentry"), build_distribution_statement("companies_logmonth"))
    do(MOVE, SUM_UP, KEYS, GUARD, NUMBER)


def unite(apps, schema_editor):
    """Back again on one machine; months that were taken out stay out."""
    schema_editor.execute(UNITE, params=None)


class Migration(migrations.Migration):
    dependencies = [("companies", "0018_directory")]

    operations = [
        migrations.CreateModel(
            name="LogMonth",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "company_id", "month", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("month", models.DateField()),
                ("first_number", models.BigIntegerField()),
                ("last_number", models.BigIntegerField()),
                (
                    "company",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="companies.company",
                    ),
                ),
            ],
        ),
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(divide, unite)],
            state_operations=[
                migrations.RemoveConstraint("auditentry", "audit_entry_numbered_once"),
                migrations.AddIndex(
                    "auditentry", models.Index(fields=["company", "number"], name="audit_entry_by_number")
                ),
            ],
        ),
    ]
