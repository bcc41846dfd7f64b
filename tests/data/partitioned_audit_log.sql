-- The audit log as earlier versions had it: partitioned by month, with its numbers in companies_logmonth.
DROP TABLE companies_auditentry;
CREATE TABLE companies_logmonth (
    company_id uuid NOT NULL,
    month date NOT NULL,
    first_number bigint NOT NULL,
    last_number bigint NOT NULL,
    PRIMARY KEY (company_id, month)
);
CREATE TABLE companies_auditentry (
    id uuid NOT NULL,
    time timestamptz NOT NULL,
    actor varchar(64),
    credential varchar(120) NOT NULL,
    request_id varchar(64) NOT NULL,
    action varchar(60) NOT NULL,
    entity_type varchar(40) NOT NULL,
    entity_id varchar(64) NOT NULL,
    before jsonb,
    after jsonb,
    company_id uuid NOT NULL,
    number bigint DEFAULT 0 NOT NULL
) PARTITION BY RANGE (time);
CREATE TABLE companies_auditentry_rest PARTITION OF companies_auditentry DEFAULT;
ALTER TABLE companies_auditentry ADD PRIMARY KEY (company_id, id, time);
ALTER TABLE companies_auditentry ADD CONSTRAINT companies_auditentry_company
    FOREIGN KEY (company_id) REFERENCES companies_company (id);
CREATE INDEX audit_entry_by_number ON companies_auditentry (company_id, number);
CREATE INDEX audit_entry_by_time ON companies_auditentry (company_id, time, id);
CREATE INDEX audit_entry_by_entity ON companies_auditentry (company_id, entity_type, entity_id);
CREATE INDEX audit_entry_by_request ON companies_auditentry (request_id);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON companies_auditentry
    FOR EACH ROW EXECUTE FUNCTION companies_audit_is_append_only();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry_rest
    FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
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
CREATE TABLE companies_auditentry_2019_02 (LIKE companies_auditentry INCLUDING DEFAULTS);
ALTER TABLE companies_auditentry ATTACH PARTITION companies_auditentry_2019_02
    FOR VALUES FROM ('2019-02-01T00:00:00+00:00') TO ('2019-03-01T00:00:00+00:00');
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry_2019_02
    FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
