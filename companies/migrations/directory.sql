-- Memberships and API keys refer to the directory (companies_directoryentry), where they are found by user or key before
-- the company is known. On a cluster it is copied to every machine.
ALTER TABLE companies_membership ADD CONSTRAINT companies_membership_listed
    FOREIGN KEY (company_id, user_id) REFERENCES companies_directoryentry (company_id, subject);
ALTER TABLE companies_apikey ADD CONSTRAINT companies_apikey_listed
    FOREIGN KEY (company_id, id) REFERENCES companies_directoryentry (company_id, subject);
