-- The audit log is append-only, and numbered in commit order. For a new table; the functions may be there already.
--
-- Entries are neither changed nor deleted, except that the log of a sandbox is deleted with it. TRUNCATE fires no row
-- triggers.
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
CREATE TRIGGER audit_is_append_only BEFORE UPDATE OR DELETE ON companies_auditentry
    FOR EACH ROW EXECUTE FUNCTION companies_audit_is_append_only();
CREATE TRIGGER audit_is_never_emptied BEFORE TRUNCATE ON companies_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION companies_audit_is_append_only();

-- Times and sequences do not give the commit order: what began first may commit last. The lock makes transactions of
-- one company that write entries finish one after the other.
CREATE OR REPLACE FUNCTION companies_audit_is_numbered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('log:' || NEW.company_id, 0));
    SELECT coalesce(max(number), 0) + 1 INTO NEW.number
      FROM companies_auditentry WHERE company_id = NEW.company_id;
    RETURN NEW;
END $$;
CREATE TRIGGER audit_is_numbered BEFORE INSERT ON companies_auditentry
    FOR EACH ROW EXECUTE FUNCTION companies_audit_is_numbered();
