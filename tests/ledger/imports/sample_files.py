"""The small bank files of tests/data/bank_files, with the expected rows or the expected question.

Each is a kind of export that was once misread without an error.
"""

from pathlib import Path

from tests.ledger.imports import column_files, currency_files, layout_files, sign_files

SAMPLES_FOLDER = Path(__file__).parents[2] / "data" / "bank_files"
RENT, SALE, FEE = ("2024-03-24", "-500.00", "EUR"), ("2024-03-25", "120.50", "EUR"), ("2024-03-26", "-1.00", "EUR")


def add_euro(*rows):
    return [(*row, "EUR") for row in rows]


ROWS_OF_FILE = {
    "01_direction_column": [RENT, SALE],
    "02_original_currency": add_euro(("2024-03-24", "-9.20")),
    "03_status_column": [("2024-03-24", "-20.00", "EUR", "pending"), ("2024-03-27", "120.50", "EUR")],
    "04_balance_taken_for_amount": [RENT, SALE, FEE],
    "05_number_taken_for_amount": add_euro(("2024-03-24", "-500.00"), ("2024-03-25", "120.00")),
    "06_outflow_inflow": [RENT, SALE],
    "07_fee_column": add_euro(("2024-03-24", "100.00"), ("2024-03-25", "-51.50")),
    "09_value_date_debit_credit": [RENT, SALE],
    "10_rows_wider_than_headings": [RENT, SALE, FEE],
    "11_padded_preamble": [RENT, SALE, FEE],
    "12_more_lines_above_than_rows": [RENT, SALE],
    "13_shared_id": add_euro(("2024-03-24", "-357.38"), ("2024-03-24", "-11.35")),
    "16_balance_lines": [RENT],
    "19_cp1250": add_euro(("2024-03-24", "-50.00")),
    "19_cp1250_refused": add_euro(("2024-03-24", "-50.00")),
    "19_cut_byte": add_euro(("2024-03-24", "-5.00"), ("2024-03-25", "-1.00")),
    "21_hungarian_dates": add_euro(("2024-03-24", "-350.00"), ("2024-03-25", "1290.00")),
    "22_month_names": add_euro(
        ("2024-02-15", "-3.00"), ("2024-03-01", "2.00"), ("2024-10-16", "-1.00"), ("2024-12-04", "4.00")
    ),
    "23_currency_signs": [("2024-03-24", "-1234.50", "PLN"), ("2024-03-25", "2000.00", "PLN")],
    "24_dr_cr_behind": [RENT, SALE],
    "25_foreign_headings": add_euro(("2024-03-24", "-2.56"), ("2024-03-25", "7.50")),
    "26_heading_like_amount": add_euro(("2024-03-24", "-98.76"), ("2024-03-25", "200.00")),
    "27_negative_credit": add_euro(("2024-03-24", "-20.00"), ("2024-03-25", "500.00")),
    "35_page_then_camt": add_euro(("2024-03-25", "-10.00")),
    "36_footer": add_euro(("2024-04-24", "-1.00"), ("2024-04-25", "2.00")),
    "37_blanks_in_texts": add_euro(("2024-03-24", "-80.00")),
    "38_three_decimals": add_euro(("2024-03-24", "-0.75"), ("2024-03-25", "4.00")),
    "38_three_decimals_balance": add_euro(("2024-03-24", "-1.25"), ("2024-03-25", "2.00")),
    "39_zeros_behind": add_euro(("2024-03-24", "-7.50"), ("2024-03-25", "20.00")),
    "41_currency_heading_unknown": [("2024-03-24", "-7.00", "GBP"), ("2024-03-25", "8.00", "EUR")],
    "41_currency_in_cell": [("2024-03-24", "-7.00", "GBP"), ("2024-03-25", "8.00", "GBP")],
    "41_currency_in_heading": [("2024-03-24", "-7.00", "GBP"), ("2024-03-25", "8.00", "GBP")],
    "41_currency_no_heading": [("2024-03-24", "-7.00", "GBP"), ("2024-03-25", "8.00", "EUR")],
    "43_pair_half_known": add_euro(("2024-03-24", "-7.00"), ("2024-03-25", "8.00")),
    "44_net_currency": add_euro(("2024-03-24", "9.00"), ("2024-03-25", "-4.00")),
    # The columns of single banks.
    "51_paypal": add_euro(("2024-03-24", "97.16"), ("2024-03-25", "-20.00"), ("2024-03-28", "-177.16")),
    "52_ing_nl": add_euro(("2024-03-24", "-500.00"), ("2024-03-25", "1210.00")),
    "53_hdfc": [
        ("2024-03-24", "-350.00", "INR"),
        ("2024-03-25", "125000.50", "INR"),
        ("2024-03-28", "-10000.00", "INR"),
    ],
    "54_alipay": [("2024-03-24", "-28.00", "CNY"), ("2024-03-25", "500.00", "CNY")],
    "55_n26": add_euro(("2024-03-24", "-4.50"), ("2024-03-25", "1190.00"), ("2024-03-26", "-800.00")),
    "56_mbank": [
        ("2024-03-24", "-1234.50", "PLN"),
        ("2024-03-25", "2000.00", "PLN"),
        ("2024-03-26", "-12.00", "PLN"),
    ],
    "57_monzo": [("2024-03-24", "-8.60", "GBP"), ("2024-03-25", "1200.00", "GBP")],
    "58_sparkasse_camt": add_euro(("2024-03-24", "-85.20"), ("2024-03-25", "1190.00"), ("2024-03-26", "-4.90")),
    "59_revolut": add_euro(("2024-03-24", "-4.50"), ("2024-03-25", "-51.00"), ("2024-03-26", "100.00")),
    "60_wise": add_euro(("2024-03-24", "1000.00"), ("2024-03-25", "-5.00"), ("2024-03-26", "-100.41")),
    "61_chase": [("2024-03-24", "-500.00", "USD"), ("2024-03-25", "700.00", "USD"), ("2024-03-26", "-4.50", "USD")],
}

# What is asked, the answers that somebody gives, and what is stored then.
QUESTIONS_OF_FILE = {
    "08_brutto_netto": (
        {"columns.amount": "Netto", "flipSign": False},
        add_euro(("2024-03-24", "96.60")),
    ),
    "14_kept_flip_a": (
        {"flipSign": True},
        add_euro(("2024-03-24", "-120.50"), ("2024-03-25", "500.00"), ("2024-03-28", "-30.00")),
    ),
    "15_heading_twice_a": ({"columns.amount": 4}, add_euro(("2024-03-24", "-92.00"))),
    "17_two_sections": (
        {"accountValues": ["Umsätze Girokonto 30 Tage"]},
        add_euro(("2024-03-24", "-500.00"), ("2024-03-25", "-50.00")),
    ),
    "18_account_column": ({"accountValues": ["Checking"]}, add_euro(("2024-03-24", "-1500.00"))),
    "20_ambiguous_dates": (
        {"dateOrder": "monthFirst"},
        add_euro(("2024-07-02", "-52.00"), ("2024-07-03", "-1350.00"), ("2024-12-03", "-130.00")),
    ),
    "42_card_charges_positive": (
        {"flipSign": True},
        add_euro(("2024-03-24", "-20.00"), ("2024-03-25", "-4.00"), ("2024-03-28", "24.00")),
    ),
    "62_stripe_balance": ({"columns.amount": "Net"}, add_euro(("2024-03-24", "96.80"), ("2024-03-25", "-20.00"))),
}
ACCOUNT_TYPES = dict.fromkeys(("42_card_charges_positive", *sign_files.CARDS), "creditCard")
ACCOUNT_CURRENCIES = {"53_hdfc": "INR", "54_alipay": "CNY", "56_mbank": "PLN", "57_monzo": "GBP", "61_chase": "USD"}
ROWS_OF_FILE |= sign_files.ROWS | currency_files.ROWS | column_files.ROWS | layout_files.ROWS
QUESTIONS_OF_FILE |= sign_files.ASKED | currency_files.ASKED | column_files.ASKED | layout_files.ASKED
# The status, the code, and what the detail names.
REFUSED = sign_files.REFUSED | currency_files.REFUSED | column_files.REFUSED | layout_files.REFUSED
ACCOUNT_CURRENCIES |= currency_files.ACCOUNT_CURRENCIES | layout_files.ACCOUNT_CURRENCIES


def read_file(name):
    return (SAMPLES_FOLDER / f"{name}.csv").read_bytes()
