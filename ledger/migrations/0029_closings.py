"""Closed months, and triggers that refuse to change their figures.

Triggers on the derived rows (days, months, results) note what a row said before a change first touched it, for months
that were ever closed. When the change ends (a deferred constraint trigger), the row is compared with that: where it
says the same again the note goes; where it differs in a closed month the change is refused. So a change may delete and
rebuild derived rows, and only what it comes to counts. Facts of which no derived row is kept at once (subscriptions,
the type of an account, settings of the company) have triggers of their own.
"""

import django.db.models.deletion
from django.db import migrations, models

import companies.models.tenancy

TOKEN = "coalesce(nullif(current_setting('tidebook.change', true), ''), 'transaction ' || pg_current_xact_id())"
REFUSE = """
CREATE FUNCTION ledger_refuse_closed(closed date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the books are closed through %; this violates check constraint "closing_period_closed"', closed
        USING ERRCODE = 'check_violation', CONSTRAINT = 'closing_period_closed';
END $$;
"""

# A row for each of the old and the new key of a derived row that differs; of a new one zeros were there before.
NOTE = """
CREATE FUNCTION ledger_note_{kind}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    reported date;
    by_rates boolean := coalesce(current_setting('tidebook.rates', true), '') = 'on';
BEGIN
    IF TG_OP = 'UPDATE' AND ({old_key}, {old_values}) IS NOT DISTINCT FROM ({new_key}, {new_values}) THEN
        RETURN NULL;
    END IF;
    SELECT reported_through INTO reported FROM companies_company WHERE id = coalesce(NEW.company_id, OLD.company_id);
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    IF TG_OP <> 'INSERT' AND OLD.{day} <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (OLD.company_id, gen_random_uuid(), {token}, '{kind}', OLD.{subject}, OLD.{label}, OLD.{day},
                {old_sums}, by_rates)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    IF TG_OP <> 'DELETE' AND NEW.{day} <= reported THEN
        INSERT INTO ledger_figurechange
               (company_id, id, token, kind, subject_id, label, day, amount, inflow, outflow, rates)
        VALUES (NEW.company_id, gen_random_uuid(), {token}, '{kind}', NEW.{subject}, NEW.{label}, NEW.{day},
                0, 0, 0, by_rates)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_note_{kind} AFTER INSERT OR UPDATE OR DELETE ON {table}
    FOR EACH ROW EXECUTE FUNCTION ledger_note_{kind}();
"""
DERIVED = [  # kind, table, subject, label, day, its sums
    ("day", "ledger_daymovement", "account_id", "currency", "date", ("amount", "inflow", "outflow")),
    ("month", "ledger_monthmovement", "account_id", "currency", "month", ("amount",)),
    ("result", "ledger_monthresult", "category_id", "pl_type", "month", ("base_amount",)),
]


def note(kind: str, table: str, subject: str, label: str, day: str, sums: tuple[str, ...]) -> str:
    def columns(row: str, names: tuple[str, ...]) -> str:
        return ", ".join(f"{row}.{name}" for name in names)

    key = ("company_id", subject, label, day)
    return NOTE.format(
        kind=kind,
        table=table,
        subject=subject,
        label=label,
        day=day,
        token=TOKEN,
        old_key=columns("OLD", key),
        new_key=columns("NEW", key),
        old_values=columns("OLD", sums),
        new_values=columns("NEW", sums),
        old_sums=columns("OLD", sums) + ", 0" * (3 - len(sums)),
    )


CHECK = """
CREATE FUNCTION ledger_check_figure_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
    sums numeric[] := NULL;
BEGIN
    CASE NEW.kind
        WHEN 'day' THEN
            SELECT ARRAY[amount, inflow, outflow] INTO sums FROM ledger_daymovement
             WHERE company_id = NEW.company_id AND account_id = NEW.subject_id AND currency = NEW.label
               AND date = NEW.day;
        WHEN 'month' THEN
            SELECT ARRAY[amount, 0, 0] INTO sums FROM ledger_monthmovement
             WHERE company_id = NEW.company_id AND account_id = NEW.subject_id AND currency = NEW.label
               AND month = NEW.day;
        WHEN 'result' THEN
            SELECT ARRAY[base_amount, 0, 0] INTO sums FROM ledger_monthresult
             WHERE company_id = NEW.company_id AND category_id = NEW.subject_id AND pl_type = NEW.label
               AND month = NEW.day;
        ELSE
            RETURN NULL;
    END CASE;
    IF ARRAY[NEW.amount, NEW.inflow, NEW.outflow] = coalesce(sums, ARRAY[0, 0, 0]) THEN
        DELETE FROM ledger_figurechange WHERE company_id = NEW.company_id AND id = NEW.id;
        RETURN NULL;
    END IF;
    SELECT closed_through INTO closed FROM companies_company WHERE id = NEW.company_id;
    IF NEW.day <= closed AND NOT (NEW.rates AND NEW.kind = 'result') THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER ledger_figure_change_allowed AFTER INSERT ON ledger_figurechange
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_check_figure_change();
"""

# What counts of an event; one that is retracted counts for nothing.
EVENT = (
    "{row}.subscription_id, {row}.effective_date, {row}.committed_date, {row}.amount_value, {row}.amount_currency, "
    "{row}.interval, {row}.interval_count, {row}.retracted_time IS NULL"
)
EVENTS = """
CREATE FUNCTION ledger_check_events_{event}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    company record;
BEGIN
    FOR company IN
        SELECT id, closed_through, reported_through FROM companies_company
         WHERE reported_through IS NOT NULL AND id IN (SELECT company_id FROM {some})
    LOOP
        IF EXISTS (SELECT 1 FROM ({changed}) AS e WHERE e.company_id = company.id AND e.day <= company.closed_through)
        THEN
            PERFORM ledger_refuse_closed(company.closed_through);
        END IF;
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        SELECT company.id, gen_random_uuid(), {token}, 'event', e.subscription_id, '', min(e.day), false
          FROM ({changed}) AS e WHERE e.company_id = company.id AND e.day <= company.reported_through
         GROUP BY e.subscription_id
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END LOOP;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_check_events_{event} AFTER {event} ON ledger_subscriptionevent {referencing}
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_events_{event}();
"""
LIVE = """
    SELECT company_id, subscription_id, least(effective_date, committed_date) AS day
      FROM {rows} WHERE retracted_time IS NULL
"""
DIFFERENT = f"""
    SELECT o.company_id, o.subscription_id,
           least(o.effective_date, o.committed_date, n.effective_date, n.committed_date) AS day
      FROM old_rows AS o JOIN new_rows AS n ON n.company_id = o.company_id AND n.id = o.id
     WHERE (o.retracted_time IS NULL OR n.retracted_time IS NULL)
       AND ({EVENT.format(row="o")}) IS DISTINCT FROM ({EVENT.format(row="n")})
"""
EVENT_CHANGES = {
    "insert": ("new_rows", LIVE.format(rows="new_rows"), "REFERENCING NEW TABLE AS new_rows"),
    "delete": ("old_rows", LIVE.format(rows="old_rows"), "REFERENCING OLD TABLE AS old_rows"),
    "update": ("new_rows", DIFFERENT, "REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows"),
}

FACTS = f"""
CREATE FUNCTION ledger_check_subscription() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
    reported date;
    first date;
BEGIN
    SELECT closed_through, reported_through INTO closed, reported FROM companies_company WHERE id = OLD.company_id;
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT min(least(effective_date, committed_date)) INTO first FROM ledger_subscriptionevent
     WHERE company_id = OLD.company_id AND subscription_id = OLD.id AND retracted_time IS NULL;
    IF first <= closed THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    IF first <= reported THEN
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        VALUES (OLD.company_id, gen_random_uuid(), {TOKEN}, 'event', OLD.id, '', first, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_check_subscription AFTER UPDATE OF customer_id ON ledger_subscription
    FOR EACH ROW WHEN (OLD.customer_id IS DISTINCT FROM NEW.customer_id) EXECUTE FUNCTION ledger_check_subscription();

CREATE FUNCTION ledger_check_account() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
    reported date;
    first date;
BEGIN
    SELECT closed_through, reported_through INTO closed, reported FROM companies_company WHERE id = OLD.company_id;
    IF reported IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT min(date) INTO first FROM ledger_daymovement
     WHERE company_id = OLD.company_id AND account_id = OLD.id AND (inflow <> 0 OR outflow <> 0);
    IF first <= closed THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    IF first <= reported THEN
        INSERT INTO ledger_figurechange (company_id, id, token, kind, subject_id, label, day, rates)
        VALUES (OLD.company_id, gen_random_uuid(), {TOKEN}, 'account', OLD.id, '', first, false)
        ON CONFLICT (company_id, token, kind, subject_id, label, day) DO NOTHING;
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_check_account AFTER UPDATE OF type ON ledger_account
    FOR EACH ROW WHEN ((OLD.type = 'transit') <> (NEW.type = 'transit')) EXECUTE FUNCTION ledger_check_account();

CREATE FUNCTION ledger_check_company() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF pg_trigger_depth() = 1 AND (OLD.closed_through, OLD.reported_through)
                                  IS DISTINCT FROM (NEW.closed_through, NEW.reported_through) THEN
        PERFORM ledger_refuse_closed(OLD.closed_through);
    END IF;
    IF OLD.closed_through IS NOT NULL AND (OLD.base_currency, OLD.data_start_date)
                                          IS DISTINCT FROM (NEW.base_currency, NEW.data_start_date) THEN
        PERFORM ledger_refuse_closed(OLD.closed_through);
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER ledger_check_company BEFORE UPDATE OF closed_through, reported_through, base_currency, data_start_date
    ON companies_company FOR EACH ROW EXECUTE FUNCTION ledger_check_company();
"""

# A part whose postings lie in closed months is not changed behind them.
PARTS = ", ".join(
    f"{{row}}.{name}"
    for name in (
        *("category_id", "rule", "computed_start_date", "computed_end_date", "recognized_from"),
        *("revenue", "cogs", "cac", "pd", "ga", "no", "neutral"),
    )
)
CATEGORIZATIONS = f"""
CREATE FUNCTION ledger_check_categorizations() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    closed date;
BEGIN
    SELECT c.closed_through INTO closed
      FROM old_rows AS o
      JOIN new_rows AS n ON n.company_id = o.company_id AND n.id = o.id
      JOIN companies_company AS c ON c.id = o.company_id
     WHERE c.closed_through IS NOT NULL
       AND ({PARTS.format(row="o")}) IS DISTINCT FROM ({PARTS.format(row="n")})
       AND EXISTS (SELECT 1 FROM ledger_posting AS p
                    WHERE p.company_id = o.company_id AND p.categorization_id = o.id AND p.month <= c.closed_through)
     LIMIT 1;
    IF FOUND THEN
        PERFORM ledger_refuse_closed(closed);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER ledger_check_categorizations AFTER UPDATE ON ledger_categorization
    REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_check_categorizations();
"""

APPEND_ONLY = """
CREATE FUNCTION ledger_closings_are_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT 1 FROM companies_company
                    WHERE id = OLD.company_id AND (demonstration IS NOT NULL OR system_status = 'sandbox'
                                                   OR system_deletion_scheduled_time <= now())) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'closings are append-only' USING ERRCODE = 'restrict_violation';
END $$;

CREATE FUNCTION ledger_derive_closed_through() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    company uuid;
BEGIN
    FOR company IN SELECT DISTINCT company_id FROM changed_rows LOOP
        UPDATE companies_company
           SET closed_through = (
                   SELECT (max(c.month) + interval '1 month')::date - 1 FROM ledger_closing AS c
                    WHERE c.company_id = company
                      AND NOT EXISTS (SELECT 1 FROM ledger_reopening AS r
                                       WHERE r.company_id = company AND r.closing_id = c.id)),
               reported_through = (
                   SELECT (max(c.month) + interval '1 month')::date - 1 FROM ledger_closing AS c
                    WHERE c.company_id = company)
         WHERE id = company;
    END LOOP;
    RETURN NULL;
END $$;
""" + "".join(
    f"""
CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE ON ledger_{table}
    FOR EACH ROW EXECUTE FUNCTION ledger_closings_are_append_only();
CREATE TRIGGER {table}_never_emptied BEFORE TRUNCATE ON ledger_{table}
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_closings_are_append_only();
CREATE TRIGGER {table}_derives_insert AFTER INSERT ON ledger_{table} REFERENCING NEW TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive_closed_through();
CREATE TRIGGER {table}_derives_delete AFTER DELETE ON ledger_{table} REFERENCING OLD TABLE AS changed_rows
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_derive_closed_through();
"""
    for table in ("closing", "reopening")
)


def id_field() -> tuple[str, models.UUIDField]:
    return "id", models.UUIDField(
        default=companies.models.tenancy.generate_id, editable=False, primary_key=True, serialize=False
    )


def company_field() -> tuple[str, models.ForeignKey]:
    return "company", models.ForeignKey(
        db_constraint=False,
        db_index=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        to="companies.company",
    )


def reference(to: str, **kwargs: str) -> companies.models.tenancy.CompanyForeignKey:
    return companies.models.tenancy.CompanyForeignKey(
        db_constraint=False,
        db_index=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="+",
        to=to,
        **kwargs,
    )


class Migration(migrations.Migration):
    dependencies = [
        ("companies", "0025_closed_through"),
        ("ledger", "0028_totals_never_overflow"),
    ]

    operations = [
        migrations.AddField("categorization", "recognized_from", models.DateField(null=True)),
        migrations.CreateModel(
            name="Closing",
            fields=[
                id_field(),
                ("month", models.DateField()),
                ("version", models.BigIntegerField()),
                ("number", models.BigIntegerField()),
                ("note", models.TextField(null=True)),
                ("figures", models.JSONField()),
                ("digest", models.CharField(max_length=64)),
                ("previous_digest", models.CharField(max_length=64, null=True)),
                ("log_number", models.BigIntegerField()),
                ("rates_version", models.BigIntegerField()),
                ("created_time", models.DateTimeField()),
                ("created_user_id", models.CharField(max_length=64, null=True)),
                company_field(),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("company", "month", "version"), name="closing_version_once"),
                    models.UniqueConstraint(fields=("company", "number"), name="closing_number_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Reopening",
            fields=[
                id_field(),
                ("reason", models.TextField()),
                ("created_time", models.DateTimeField()),
                ("created_user_id", models.CharField(max_length=64, null=True)),
                ("closing", reference("ledger.closing")),
                company_field(),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("company", "closing"), name="closing_reopened_once"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FigureChange",
            fields=[
                id_field(),
                ("token", models.CharField(max_length=64)),
                ("kind", models.CharField(max_length=10)),
                ("subject_id", models.UUIDField()),
                ("label", models.CharField(max_length=20)),
                ("day", models.DateField()),
                ("amount", models.DecimalField(decimal_places=10, max_digits=60, null=True)),
                ("inflow", models.DecimalField(decimal_places=10, max_digits=60, null=True)),
                ("outflow", models.DecimalField(decimal_places=10, max_digits=60, null=True)),
                ("rates", models.BooleanField(default=False)),
                company_field(),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("company", "token", "kind", "subject_id", "label", "day"), name="figure_change_once"
                    ),
                ],
                "indexes": [models.Index(fields=["company", "kind", "day"], name="figure_change_by_day")],
            },
        ),
        migrations.CreateModel(
            name="ChangeEntry",
            fields=[
                id_field(),
                ("token", models.CharField(max_length=64)),
                ("number", models.BigIntegerField()),
                ("entry", reference("companies.auditentry", when_deleted="stays")),
                company_field(),
            ],
            options={"indexes": [models.Index(fields=["company", "token"], name="change_entry_by_token")]},
        ),
        companies.models.tenancy.CompanyKeys(["Closing", "Reopening", "FigureChange", "ChangeEntry"]),
        migrations.RunSQL(REFUSE),
        *(migrations.RunSQL(note(*table)) for table in DERIVED),
        migrations.RunSQL(CHECK),
        *(
            migrations.RunSQL(
                EVENTS.format(event=event, some=some, changed=changed, referencing=referencing, token=TOKEN)
            )
            for event, (some, changed, referencing) in EVENT_CHANGES.items()
        ),
        migrations.RunSQL(FACTS),
        migrations.RunSQL(CATEGORIZATIONS),
        migrations.RunSQL(APPEND_ONLY),
    ]
