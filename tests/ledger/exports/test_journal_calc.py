"""Journals of plain values: what their entries say, and how Beancount and hledger are told of them."""

from collections import defaultdict
from datetime import date
from decimal import Decimal

import pytest
from beancount.core import account
from beancount.parser import parser
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.exports.calc import beancount, hledger
from ledger.exports.calc.account_names import make_name_unique, normalize_account_name
from ledger.exports.calc.chart_of_accounts import (
    OPENING_BALANCES_ACCOUNT,
    PREFIX_BY_ACCOUNT_TYPE,
    PREFIX_BY_LINE,
    TAX_ACCOUNT,
    TRANSFERS_ACCOUNT,
    ChartOfAccounts,
    build_chart_of_accounts,
)
from ledger.exports.calc.journal_entries import JournalEntry, JournalRow, build_journal_entries, reverse_sign

BANK, TILL, SALES, RENT = "Assets:Bank:Main", "Assets:Cash:Till", "Income:Revenue:Sales", "Expenses:Rent"
CHART = ChartOfAccounts({"bank": BANK, "till": TILL}, {"shop": [SALES, RENT, *list(PREFIX_BY_LINE.values())[2:]]})
PLAIN_ROW = JournalRow("1", "2026-03-15", "bank", "Initech", "Invoice 7", "EUR", "0.00", *[""] * 15)
AMOUNTS = st.decimals(min_value=-999, max_value=999, places=2)
SIGNED = AMOUNTS.filter(bool)


def build_row(amount, **more):
    return PLAIN_ROW._replace(amount=amount, **more)


def build_entries(*rows):
    return list(build_journal_entries(rows, chart=CHART))


def list_postings(*rows):
    (entry,) = build_entries(*rows)
    return [" ".join(posting) for posting in entry.postings]


# ---------------------------------------------------------------------------------------------- names


@given(st.text(max_size=40))
def test_normalized_account_name_is_valid_for_any_text(text):
    name = normalize_account_name(text, fallback="Account-1f")
    assert account.is_valid_leaf(name)
    assert ":" not in name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("main", "Main"),
        ("a1", "A1"),  # a letter before a digit begins the name
        ("1st", "1st"),
        ("--main -- till--", "Main-till"),  # hyphens stand between words only
        ("", "Account"),
        ("...", "Account"),
        ("ß", "SS"),
    ],
)
def test_account_name_starts_with_capital_or_digit_and_drops_other_signs(text, name):
    assert normalize_account_name(text, fallback="Account") == name


@given(st.lists(st.sampled_from(["A", "A-2", "A-2-2", "B"]), max_size=12))
def test_account_names_are_made_unique(names):
    taken = set()
    results = [make_name_unique(name, taken) for name in names]
    assert len(set(results)) == len(names)
    assert taken == set(results)


def test_hidden_names_are_exported_as_id_suffixes():
    secret = "0198-aaaa-12345678"
    chart = build_chart_of_accounts(accounts=[(secret, "bank", "")], categories=[(secret, "")])
    assert chart.accounts == {secret: "Assets:Bank:Account-12345678"}
    assert chart.categories[secret][0] == "Income:Revenue:Category-12345678"


def test_chart_has_unique_account_per_type_and_category_on_each_line():
    chart = build_chart_of_accounts(
        accounts=[(kind, kind, "Main") for kind in PREFIX_BY_ACCOUNT_TYPE], categories=[("1", "Main"), ("2", "main")]
    )
    assert len(set(chart.accounts.values())) == len(PREFIX_BY_ACCOUNT_TYPE)
    assert chart.categories["1"] == [f"{line}:Main" for line in PREFIX_BY_LINE.values()]
    assert chart.categories["2"] == [f"{line}:Main-2" for line in PREFIX_BY_LINE.values()]


# ---------------------------------------------------------------------------------------------- entries


@given(AMOUNTS)
def test_reversed_sign_negates_amount_without_negative_zero(amount):
    text = f"{amount or abs(amount)}"
    assert Decimal(reverse_sign(text)) == -amount
    assert reverse_sign(reverse_sign(text)) == text
    assert reverse_sign(text) != "-0.00"


def format_amount(amount):
    return f"{amount:.2f}" if amount else ""


@st.composite
def draw_transaction(draw, number):
    """The rows of one: parts on lines with tax, legs of transfers, and what is left."""
    parts, total = [], Decimal(0)
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["category", "half way", "pair"]))
        if kind == "category":
            first, second, tax = draw(AMOUNTS), draw(AMOUNTS), draw(AMOUNTS)
            parts.append(
                {
                    "category": "shop",
                    "revenue": format_amount(first),
                    "cogs": format_amount(second),
                    "tax": format_amount(tax),
                }
            )
            total -= first + second + tax
            continue
        leg = draw(SIGNED)
        part = {"category": "shop", "leg_value": format_amount(leg)}
        if kind == "pair":
            currency, other = draw(st.sampled_from(["EUR", "USD"])), abs(draw(SIGNED))
            other = draw(st.sampled_from([abs(leg), other]))
            other = format_amount(-other if leg > 0 else other)
            part |= {"other_account": "till", "other_currency": currency, "other_value": other}
        parts.append(part)
        total += leg
    left = draw(AMOUNTS)
    whole = {
        "id": str(number),
        "uncategorized": format_amount(left),
        "is_initial_balance": draw(st.sampled_from(["", "", "t"])),
    }
    if whole["is_initial_balance"]:  # it has no parts
        parts, total = [], Decimal(0)
    return [build_row(f"{total + left:.2f}", **whole, **part) for part in parts or [{}]]


@given(st.integers(1, 3).flatmap(lambda many: st.tuples(*map(draw_transaction, range(many)))))
@settings(max_examples=60)
def test_journal_entries_balance_to_zero_and_sum_to_account_movements(drawn):
    entries = build_entries(*[each for rows in drawn for each in rows])
    for entry in entries:
        sums = defaultdict(Decimal)
        for _, amount, currency in entry.postings:
            sums[currency] += Decimal(amount)
        assert not any(sums.values())
    moved = sum(Decimal(rows[0].amount) for rows in drawn)
    came = sum(  # the other side tells of these
        Decimal(part.leg_value)
        for rows in drawn
        for part in rows
        if part.other_value and not part.leg_value.startswith("-")
    )
    bank_total = sum(Decimal(amount) for entry in entries for name, amount, _ in entry.postings if name == BANK)
    assert bank_total == moved - came


@pytest.mark.parametrize(
    ("amount", "against"),
    [("10.00", "Income:Uncategorized -10.00 EUR"), ("-10.00", "Expenses:Uncategorized 10.00 EUR")],
)
def test_uncategorized_amount_is_posted_to_uncategorized_account(amount, against):
    (entry,) = build_entries(build_row(amount, uncategorized=amount))
    assert entry == JournalEntry("2026-03-15", True, "1", "Initech", "Invoice 7", entry.postings)
    assert list_postings(build_row(amount, uncategorized=amount)) == [f"{BANK} {amount} EUR", against]


def test_split_is_posted_to_category_lines_and_tax_account():
    one = {"category": "shop", "revenue": "-8.00", "tax": "-1.52"}
    other = {"category": "shop", "cogs": "2.00"}
    assert list_postings(build_row("7.52", **one), build_row("7.52", **other)) == [
        f"{BANK} 7.52 EUR", f"{SALES} -8.00 EUR", f"{TAX_ACCOUNT} -1.52 EUR", f"{RENT} 2.00 EUR",
    ]  # fmt: skip
    assert [each.is_open for each in build_entries(build_row("7.52", **one), build_row("7.52", **other))] == [False]


def test_mismatched_chart_lines_are_rejected():
    with pytest.raises(ValueError, match="zip"):
        list(
            build_journal_entries(
                [build_row("1.00", category="shop", revenue="-1.00")],
                chart=ChartOfAccounts({"bank": BANK}, {"shop": [SALES]}),
            )
        )


def test_initial_balance_is_posted_against_opening_balances():
    assert list_postings(build_row("100.00", uncategorized="100.00", is_initial_balance="t")) == [
        f"{BANK} 100.00 EUR",
        f"{OPENING_BALANCES_ACCOUNT} -100.00 EUR",
    ]


def test_zero_transaction_is_still_an_entry():
    assert list_postings(build_row("0.00")) == [f"{BANK} 0.00 EUR"]


def build_leg(amount, other, currency="EUR", **more):
    """All of a transaction moves to the till, or from it."""
    away = {"other_account": "till", "other_currency": currency, "other_value": other} if other else {}
    return build_row(amount, category="shop", leg_value=amount, **away, **more)


@pytest.mark.parametrize(
    ("other", "currency", "between"),
    [
        ("10.00", "EUR", []),
        ("9.50", "EUR", [f"{TRANSFERS_ACCOUNT} 0.50 EUR"]),  # the bank kept some
        ("10.50", "EUR", [f"{TRANSFERS_ACCOUNT} -0.50 EUR"]),
        ("10.00", "USD", [f"{TRANSFERS_ACCOUNT} 10.00 EUR", f"{TRANSFERS_ACCOUNT} -10.00 USD"]),
    ],
)
def test_transfer_is_one_entry_described_by_its_source(other, currency, between):
    away, there = (
        build_leg("-10.00", other, currency),
        build_leg(other, "-10.00", id="2", account="till", currency=currency),
    )
    assert list_postings(away, there) == [f"{BANK} -10.00 EUR", f"{TILL} {other} {currency}", *between]
    (entry,) = build_entries(away, there)
    assert entry == JournalEntry("2026-03-15", False, "1", "Initech", "Invoice 7", entry.postings)


def test_transfer_in_transit_is_posted_to_transfers_account():
    assert list_postings(build_leg("-10.00", "")) == [f"{BANK} -10.00 EUR", f"{TRANSFERS_ACCOUNT} 10.00 EUR"]


def test_partial_transfer_leaves_the_rest_in_a_separate_entry():
    part = build_leg("-10.00", "10.00")._replace(amount="-12.00", uncategorized="-2.00")
    transfer, rest = build_entries(part)
    assert [amount for _, amount, _ in transfer.postings] == ["-10.00", "10.00"]
    assert rest.postings == [(BANK, "-2.00", "EUR"), ("Expenses:Uncategorized", "2.00", "EUR")]
    assert (transfer.is_open, rest.is_open) == (False, True)


# ---------------------------------------------------------------------------------------------- as they are written

RECEIVED = JournalEntry(
    "2026-03-15", False, "7", "Initech", "Invoice", [(BANK, "1.00", "EUR"), (SALES, "-1.00", "EUR")]
)


def test_beancount_entry_has_id_payee_text_and_postings():
    assert beancount.format_entry(RECEIVED) == (
        f'2026-03-15 * "Initech" "Invoice"\n  id: "7"\n  {BANK}  1.00 EUR\n  {SALES}  -1.00 EUR\n\n'
    )
    nameless = RECEIVED._replace(id="", is_open=True, postings=RECEIVED.postings[:1])  # made by the journal itself
    assert beancount.format_entry(nameless) == f'2026-03-15 ! "Initech" "Invoice"\n  {BANK}  1.00 EUR\n\n'


def test_hledger_entry_has_id_payee_text_and_postings():
    assert hledger.format_entry(RECEIVED) == (
        f"2026-03-15 * (7) Initech | Invoice\n    {BANK}  1.00 EUR\n    {SALES}  -1.00 EUR\n\n"
    )
    assert hledger.format_entry(RECEIVED._replace(payee="", is_open=True)).splitlines()[0] == "2026-03-15 ! (7) Invoice"


@given(st.text(max_size=20))
@settings(max_examples=60)
def test_beancount_text_round_trips_except_control_characters(text):
    (result,), errors, _ = parser.parse_string(f"2026-03-15 * {beancount.quote_text(text)}\n")
    assert not errors
    assert result.narration == "".join(
        each if each in "\n\t" or not (each < " " or each == "\x7f") else " " for each in text
    )


@pytest.mark.parametrize(
    ("words", "written"),
    [
        ("rent", '"rent"'),
        ('"', r'"\""'),
        ("\\", r'"\\"'),
        ("a\nb\tc\rd", r'"a\nb\tc d"'),
    ],
)
def test_beancount_text_escapes_quotes_and_backslashes(words, written):
    assert beancount.quote_text(words) == written


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("rent", "rent"),
        ("rent; March", "rent, March"),  # a comment would begin
        ("a|b", "a/b"),  # payee and note would be parted
        ("a\nb\u2028c\x85d", "a b c d"),  # another line would begin
        ("  a   b ", "a b"),
    ],
)
def test_hledger_description_is_one_line_without_special_characters(text, written):
    assert hledger.clean_description(text) == written


def test_beancount_header_sets_title_currency_and_tolerance():
    assert beancount.format_header(title="Acme", base="EUR") + beancount.format_commodities(["USD"]) == (
        'option "title" "Acme"\noption "operating_currency" "EUR"\noption "tolerance_multiplier" "0.1"\n\n'
    )


def test_hledger_header_declares_format_of_each_currency():
    assert hledger.format_header(title="A;b", base="EUR") + hledger.format_commodities(["USD", "JPY"]) == (
        "; A,b, in EUR\ndecimal-mark .\ncommodity 1000. JPY\ncommodity 1000.00 USD\n\n"
    )


def test_account_openings_and_prices_use_syntax_of_each_program():
    assert beancount.format_account_opening(BANK, day=date(2026, 3, 1)) == f"2026-03-01 open {BANK}\n"
    assert hledger.format_account_opening(BANK, day=date(2026, 3, 1)) == f"account {BANK}\n"
    rate = {"currency": "USD", "rate": "0.91", "base": "EUR"}
    assert beancount.format_price("2026-03-01", **rate) == "2026-03-01 price USD 0.91 EUR\n"
    assert hledger.format_price("2026-03-01", **rate) == "P 2026-03-01 USD 0.91 EUR\n"


def test_beancount_asserts_balances_on_the_next_day():
    held, evening = [(BANK, "1.00", "EUR"), (TILL, "-2", "JPY")], date(2026, 3, 31)
    assert beancount.format_balance_assertions(evening, held) == (
        f"2026-04-01 balance {BANK}  1.00 EUR\n2026-04-01 balance {TILL}  -2 JPY\n\n"
    )
    assert hledger.format_balance_assertions(evening, held) == (
        f"2026-03-31 * Balances\n    {BANK}  0 EUR = 1.00 EUR\n    {TILL}  0 JPY = -2 JPY\n\n"
    )
