"""SQL statements that read a company's earlier categorizations by name, word, text and account."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import connection

from companies.models import Company
from ledger.recognition.actions.postings import PL_TYPES
from ledger.rules.calc.category_proposals import HISTORY_LIMITS
from ledger.rules.calc.payment_kinds import MAX_TEXT_LENGTH

HISTORY_NOTE, ACCOUNT_NOTE = "history", "account"  # the sourceNote of what they say


def format_uuid_array(ids: Iterable[UUID]) -> str:
    """Return ids as one array literal: psycopg is slow with long lists."""
    return f"{{{','.join([each.hex for each in ids])}}}"


def fetch_history_rows(statement: str, *, company: Company, **names: Any) -> list[Any]:
    """Run a statement for the company and return its rows."""
    with connection.cursor() as cursor:
        cursor.execute(statement, {"company": company.id, "text_length": MAX_TEXT_LENGTH, **HISTORY_LIMITS, **names})
        return cursor.fetchall()


_ANY_LINE = ", ".join(f"p.{line}" for line in PL_TYPES)
_LINE = "CASE " + " ".join(f"WHEN p.{line} IS NOT NULL THEN '{line}'" for line in PL_TYPES) + " END"

# The categorization of a whole transaction by a person or a rule.
PAST_CATEGORIZATION_SQL = f"p.category_id, {_LINE} AS pl_type, p.counterparty_id, c.type AS counterparty_type"
FULLY_CATEGORIZED_SQL = f"""
    JOIN ledger_categorization p ON p.company_id = h.company_id AND p.transaction_id = h.id
     AND p.value = h.amount_value AND p.counter_id IS NULL AND coalesce({_ANY_LINE}) IS NOT NULL
     AND (p.source_note IS NULL OR p.source_note NOT IN ('{HISTORY_NOTE}', '{ACCOUNT_NOTE}'))
    LEFT JOIN ledger_counterparty c ON c.company_id = p.company_id AND c.id = p.counterparty_id
   WHERE h.company_id = %(company)s AND h.categorized_value <> 0 AND h.categorized_value = h.amount_value
     AND h.source <> 'initialBalance'
"""
_KEYS = "ARRAY(SELECT json_array_elements_text(%(keys)s::json))"
_COUNTED = "u.category_id, u.pl_type, u.counterparty_id, u.counterparty_type"

# Raw SQL: names, words and accounts are sent as arrays, and each is looked up in a LATERAL subquery.
# The latest transactions of a name with what they are compared by. Each needs a lookup of its categorization, some
# microseconds: so this is run only for names whose stored counts disagree.
COMPARED_SQL = f"""
    SELECT asked.name, u.category_id, u.pl_type, u.account_id, u.amount_value, u.description, u.categorization_id
      FROM unnest({_KEYS}) AS asked (name)
     CROSS JOIN LATERAL (
           SELECT {PAST_CATEGORIZATION_SQL}, h.account_id, h.amount_value, left(h.description, 200) AS description,
                  p.id AS categorization_id
             FROM ledger_transaction h {FULLY_CATEGORIZED_SQL} AND lower(left(h.from_to, 100)) = asked.name
            ORDER BY h.date DESC, h.id DESC LIMIT %(compared)s) AS u
"""  # noqa: S608 - our own words
# By the name in the transaction, from the counts that the database maintains.
BY_NAME_SQL = f"""
    SELECT h.name, h.category_id, h.pl_type, h.counterparty_id, c.type, h.count
      FROM ledger_habit h
      LEFT JOIN ledger_counterparty c ON c.company_id = h.company_id AND c.id = h.counterparty_id
     WHERE h.company_id = %(company)s AND h.name = ANY({_KEYS})
     ORDER BY h.name, h.place
"""  # noqa: S608 - our own words
# The latest categorized transactions of the names that most of them have, or of the given ones.
_PAYMENT_COLUMNS = """
    h.id, h.date, h.from_to, h.description, h.amount_value, h.amount_currency, h.account_id,
    h.categorizations_auto_assigned, h.categorized_value
"""
FREQUENT_NAMES_SQL = f"""
    SELECT u.*
      FROM (SELECT lower(left(from_to, 100)) AS name FROM ledger_transaction
             WHERE company_id = %(company)s AND categorized_value <> 0 AND source <> 'initialBalance' AND from_to <> ''
               AND (%(only)s::text[] IS NULL OR lower(left(from_to, 100)) = ANY(%(only)s::text[]))
             GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT %(names)s) AS frequent
     CROSS JOIN LATERAL (
           SELECT {_PAYMENT_COLUMNS} FROM ledger_transaction h
            WHERE h.company_id = %(company)s AND h.categorized_value <> 0 AND h.source <> 'initialBalance'
              AND lower(left(h.from_to, 100)) = frequent.name
            ORDER BY h.date DESC, h.id DESC LIMIT %(payments)s) AS u
"""  # noqa: S608 - our own words
# The latest categorized transactions that have only a text, such as card payments.
NAMELESS_SQL = f"""
    SELECT {_PAYMENT_COLUMNS} FROM ledger_transaction h
     WHERE h.company_id = %(company)s AND h.categorized_value <> 0 AND h.source <> 'initialBalance'
       AND lower(left(h.from_to, 100)) = ''
     ORDER BY h.date DESC, h.id DESC LIMIT %(texts)s
"""  # noqa: S608 - our own words
# Which of the counted choices of a name were made for money in one direction. Nearly always the first looked up was.
DIRECTIONS_SQL = f"""
    SELECT asked.name, asked.category_id, asked.pl_type, asked.inward
      FROM json_to_recordset(%(keys)s::json) AS asked (name text, category_id uuid, pl_type text, inward bool)
     WHERE EXISTS (
           SELECT FROM (
                  SELECT {PAST_CATEGORIZATION_SQL}, h.amount_value
                    FROM ledger_transaction h {FULLY_CATEGORIZED_SQL} AND lower(left(h.from_to, 100)) = asked.name
                   ORDER BY h.date DESC, h.id DESC LIMIT %(latest)s) AS u
            WHERE u.category_id = asked.category_id AND u.pl_type = asked.pl_type
              AND (u.amount_value > 0) = asked.inward)
"""  # noqa: S608 - our own words
# The latest of each transaction's name that has the category, the line and the direction: its amount and tax.
TAXES_SQL = f"""
    SELECT asked.id, asked.category_id, asked.pl_type, u.value, u.pass_through_tax, u.amount_currency
      FROM json_to_recordset(%(keys)s::json) AS asked (id uuid, category_id uuid, pl_type text)
      JOIN ledger_transaction t ON t.company_id = %(company)s AND t.id = asked.id AND t.from_to <> ''
     CROSS JOIN LATERAL (
           SELECT named.* FROM (
                  SELECT {PAST_CATEGORIZATION_SQL}, p.value, p.pass_through_tax, h.amount_currency, h.date, h.id
                    FROM ledger_transaction h {FULLY_CATEGORIZED_SQL}
                     AND lower(left(h.from_to, 100)) = lower(left(t.from_to, 100)) AND h.id <> t.id
                   ORDER BY h.date DESC, h.id DESC LIMIT %(latest)s) AS named
            WHERE named.category_id = asked.category_id AND named.pl_type = asked.pl_type
              AND (named.value > 0) = (t.amount_value > 0)
            ORDER BY named.date DESC, named.id DESC LIMIT 1) AS u
"""  # noqa: S608 - our own words
# Raw SQL: the ORM takes 3.2 times as long.
COUNTERPARTIES_SQL = f"""
    SELECT id, lower(left(name, 100)) FROM ledger_counterparty
     WHERE company_id = %(company)s AND lower(left(name, 100)) = ANY({_KEYS})
"""  # noqa: S608 - our own words
# Counterparties that were chosen for transactions with other names, or none. The stored counts of those names
# tell whether there are any: searching all transactions of each counterparty took two thirds of the time.
_ASKED = f"unnest(%(ids)s::uuid[], {_KEYS}) AS asked (id, name)"
CHOSEN_ELSEWHERE_SQL = f"""
    WITH asked AS (SELECT * FROM {_ASKED})
    SELECT id, name FROM asked
     WHERE id IN (SELECT asked.id FROM asked JOIN ledger_habit k ON k.counterparty_id = asked.id
                   WHERE k.company_id = %(company)s AND k.name <> asked.name)
        OR EXISTS (SELECT FROM ledger_transaction WHERE company_id = %(company)s AND lower(left(from_to, 100)) = ''
                      AND NOT categorized_value = 0 AND source <> 'initialBalance')
"""  # noqa: S608 - our own words
# A name has a row for each of its categorizations; a word in many rows ("services") proves nothing.
BY_NAME_WORD_SQL = """
    SELECT s.word, s.name, s.category_id, s.pl_type, s.counterparty_id, c.type, s.count
      FROM (SELECT h.*, w.word, count(*) OVER (PARTITION BY w.word) AS rows_of_word
              FROM ledger_habit h CROSS JOIN LATERAL unnest(string_to_array(h.name, ' ')) AS w (word)
             WHERE h.company_id = %(company)s AND w.word = ANY(%(words)s)) AS s
      LEFT JOIN ledger_counterparty c ON c.company_id = %(company)s AND c.id = s.counterparty_id
     WHERE s.rows_of_word <= %(rows_of_word)s
     ORDER BY s.word, s.name, s.place
"""
BY_COUNTERPARTY_SQL = f"""
    SELECT asked.name, {_COUNTED}, u.inward, count(*)
      FROM {_ASKED}
     CROSS JOIN LATERAL (
           SELECT {PAST_CATEGORIZATION_SQL}, h.amount_value > 0 AS inward
             FROM (SELECT transaction_id FROM ledger_categorization
                    WHERE company_id = %(company)s AND counterparty_id = asked.id LIMIT %(looked_at)s) AS own
             JOIN ledger_transaction h ON h.company_id = %(company)s AND h.id = own.transaction_id
                  {FULLY_CATEGORIZED_SQL}
              AND lower(left(h.from_to, 100)) <> asked.name AND p.counterparty_id = asked.id
            ORDER BY h.date DESC, h.id DESC LIMIT %(latest)s) AS u
     GROUP BY asked.name, {_COUNTED}, u.inward
"""  # noqa: S608 - our own words
BY_WORD_SQL = f"""
    SELECT asked.word, asked.inward, u.description, {_COUNTED}
      FROM unnest(%(words)s::text[], %(inward)s::bool[]) AS asked (word, inward)
     CROSS JOIN LATERAL (
           SELECT left(h.description, %(text_length)s) AS description, {PAST_CATEGORIZATION_SQL}
             FROM ledger_transaction h {FULLY_CATEGORIZED_SQL} AND (h.amount_value > 0) = asked.inward
              AND lower(split_part(left(h.description, 100), ' ', 1)) = asked.word
            ORDER BY h.date DESC LIMIT %(alike)s) AS u
"""  # noqa: S608 - our own words
ON_ACCOUNT_SQL = f"""
    SELECT asked.account_id, asked.inward, {_COUNTED}, count(*)
      FROM unnest(%(accounts)s::uuid[], %(inward)s::bool[]) AS asked (account_id, inward)
     CROSS JOIN LATERAL (
           SELECT {PAST_CATEGORIZATION_SQL}
             FROM (SELECT * FROM ledger_transaction WHERE company_id = %(company)s AND account_id = asked.account_id
                    ORDER BY date DESC LIMIT %(looked_at)s) AS h
                  {FULLY_CATEGORIZED_SQL} AND (h.amount_value > 0) = asked.inward
            LIMIT %(on_account)s) AS u
     GROUP BY asked.account_id, asked.inward, {_COUNTED}
"""  # noqa: S608 - our own words
