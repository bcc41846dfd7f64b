-- The audit log: partitioned by the month of its entries' time, append-only, and numbered in commit order.
--
-- Django creates the table; here it becomes a partitioned one with the same columns. Every unique key of a partitioned
-- table contains the partition column, so the primary key is (company_id, id, time). No table references an entry,
-- because months can be detached. companies.audit.partitions creates the partitions; entries outside them go to
-- companies_auditentry_rest, so none is rejected.
ALTER TABLE companies_auditentry RENAME TO companies_auditentry_columns;
CREATE TABLE companies_auditentry (LIKE companies_auditentry_columns INCLUDING DEFAULTS) PARTITION BY RANGE (time);
CREATE TABLE companies_auditentry_rest PARTITION OF companies_auditentry DEFAULT;
DROP TABLE companies_auditentry_columns;
ALTER TABLE companies_auditentry ADD PRIMARY KEY (company_id, id, time);
ALTER TABLE companies_auditentry ADD CONSTRAINT companies_auditentry_company
    FOREIGN KEY (company_id) REFERENCES companies_company (id);

-- Entries are neither changed nor deleted, except that the log of a sandbox is deleted with it. TRUNCATE fires no row
-- triggers, and a statement trigger of the table does not fire for a partition, so each partition has its own.
CREATE FUNCTION companies_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF current_setting('tidebook.deleted_company', true) = OLD.company_id::text
           AND EXISTS (SELECT 1 FROM companies_company WHERE id = OLD.company_id AND system_status = 'sandbox') THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'restrict_violation';
END $$;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON companies_auditentry
    FOR EACH ROW EXECUTE FUNCTION companies_audit_is_append_only();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry_rest
    FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();

-- Times and sequences do not give the commit order: what began first may commit last. The lock makes transactions of
-- one company that write entries finish one after the other. companies_logmonth keeps the last number, so a number is
-- unique and never reused, also when its month is detached.
CREATE FUNCTION companies_audit_is_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
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
