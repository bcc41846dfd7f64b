"""The audit log as one table. Earlier versions partitioned it by month and kept its numbers in companies_logmonth."""

from django.db import migrations

from companies.models.tenancy import (
    SEQUENTIAL_MODE_SQL,
    build_distribution_statement,
    build_reference_statements,
    is_distributed,
    run_script,
)

IS_PARTITIONED_SQL = "SELECT 1 FROM pg_class WHERE oid = 'companies_auditentry'::regclass AND relkind = 'p'"
CREATE_SQL = (
    SEQUENTIAL_MODE_SQL,
    'LOCK TABLE companies_auditentry IN ACCESS EXCLUSIVE MODE',
    'CREATE TABLE companies_auditentry_merged (LIKE companies_auditentry INCLUDING DEFAULTS)',
)
COPY_SQL = (
    'INSERT INTO companies_auditentry_merged SELECT * FROM companies_auditentry',
    # Where a company's last entries were moved out of the log, an entry with the last number: none is used twice.
    """
    INSERT INTO companies_auditentry_merged
           (id, company_id, time, credential, request_id, action, entity_type, entity_id, after, number)
    SELECT md5(m.company_id::text)::uuid, m.company_id, now(), '', '', 'company.updated', 'company', m.company_id::text,
           jsonb_build_object('audit_entries_moved_out', max(m.last_number)), max(m.last_number)
      FROM companies_logmonth m JOIN companies_company c ON c.id = m.company_id
     WHERE NOT EXISTS (SELECT 1 FROM companies_auditentry e
                        WHERE e.company_id = m.company_id AND e.number >= m.last_number)
     GROUP BY m.company_id
    """,
    # Whoever may read the log may still.
    """
    DO $$ DECLARE granted record; BEGIN
        FOR granted IN SELECT acl.grantee, acl.privilege_type FROM pg_class, aclexplode(relacl) AS acl
                        WHERE oid = 'companies_auditentry'::regclass AND acl.grantee <> relowner
        LOOP EXECUTE format('GRANT %s ON companies_auditentry_merged TO %s', granted.privilege_type,
                            CASE granted.grantee WHEN 0 THEN 'PUBLIC' ELSE granted.grantee::regrole::text END);
        END LOOP;
    END $$
    """,
    'DROP TABLE companies_auditentry, companies_logmonth',
    'ALTER TABLE companies_auditentry_merged RENAME TO companies_auditentry',
    'ALTER TABLE companies_auditentry ADD PRIMARY KEY (company_id, id)',
)


def merge_months(apps, schema_editor):
    """Copy a partitioned log into one table, with keys, indexes and triggers; other logs are one table already."""
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(IS_PARTITIONED_SQL)
        if cursor.fetchone() is None:
            return
    log = apps.get_model('companies', 'AuditEntry')
    distribute = [build_distribution_statement('companies_auditentry_merged')]
    if not is_distributed(schema_editor.connection, 'companies_auditentry'):
        distribute = []
    for statement in (*CREATE_SQL, *distribute, *COPY_SQL, *build_reference_statements(log)):
        schema_editor.execute(statement, params=None)
    for constraint in log._meta.constraints:
        schema_editor.add_constraint(log, constraint)
    for index in log._meta.indexes:
        schema_editor.add_index(log, index)
    for statement in run_script(__file__, 'audit_log.sql').sql:
        schema_editor.execute(statement, params=None)


class Migration(migrations.Migration):

    dependencies = [
        ('companies', '0002_model_names'),
    ]

    operations = [
        migrations.RunPython(merge_months),
    ]
