"""Small bank files around layouts: pairs of columns without known headings, other tables and titles in a file, cut
rows; further ones of ``bank_files``."""


def add_march(*rows):
    return [(f"2024-03-{day:02}", amount, "EUR") for day, amount in rows]


RENT_AND_SALE = add_march((24, "-500.00"), (25, "120.50"))
SHOP_FUEL_AND_CLIENT = add_march((24, "1500.00"), (25, "-20.00"), (26, "-45.60"))
SHOP_AND_CLIENTS = add_march((24, "-45.60"), (25, "20.00"), (26, "150.00"))

ROWS = {
    **dict.fromkeys(
        (
            "96_turnovers_with_codes",
            "96_lithuanian_balances",
            "96_balances_in_spaced_letters",
            "96_daily_balances_without_headings",
            "96_close_balance",
            "96_more_named_balances",
            "96_payments_like_more_balances",
            "75_commas_in_a_text_of_two_lines",
        ),
        RENT_AND_SALE,
    ),
    "96_counts_beside_amounts": add_march((24, "-500.00"), (25, "120.50"), (26, "-1.00")),
    "96_counts_before_yen": [
        ("2024-03-24", "-45600.00", "JPY"),
        ("2024-03-25", "1500000.00", "JPY"),
        ("2024-03-26", "-100.00", "JPY"),
    ],
    "96_counts_without_headings": add_march((24, "-45.60"), (25, "1500.00"), (26, "-100.00")),
    "98_signed_amounts_and_debit_balance": add_march((24, "-20.00"), (25, "-30.00"), (26, "-90.00")),
    "97_pair_of_whole_numbers": add_march((24, "-456.00"), (25, "1500.00")),
    "97_pair_in_korean": add_march((24, "1500.00"), (25, "200.00"), (26, "-456.00")),
    "97_pair_without_headings": SHOP_FUEL_AND_CLIENT,
    "97_purchases_and_payments": SHOP_AND_CLIENTS,
    "70_amount_in_ct": add_march((24, "-500.00"), (25, "120.50")),
    "99_two_digits_after_whole_amounts": add_march((24, "-5.00"), (25, "6.00"), (26, "-7.00")),
    "99_note_about_pending_at_the_end": add_march((24, "-5.00"), (25, "10.00")),
}

ASKED = {
    "71_short_years_with_points": ({"dateOrder": "iso"}, add_march((24, "6.00"), (25, "-5.00"))),
    "97_pair_of_unknown_headings": ({"columns.debit": "חובה"}, SHOP_FUEL_AND_CLIENT),
    "97_amount_and_refund": ({"columns.debit": "Amount"}, add_march((24, "-45.60"), (25, "-20.00"), (26, "15.00"))),
    "97_interest_and_payments": ({"columns.debit": "Interest"}, SHOP_AND_CLIENTS),
    "98_debit_balance_behind": ({"unprovenSign": "out"}, add_march((24, "-20.00"), (25, "-30.00"), (26, "-90.00"))),
    "98_debit_balance_before_currency": (
        {"unprovenSign": "out"},
        add_march((24, "-20.00"), (25, "-30.00"), (26, "-90.00")),
    ),
    "98_overdraft_balance": ({"unprovenSign": "out"}, add_march((24, "-20.00"), (25, "30.00"), (26, "-40.00"))),
    "98_direction_of_which": ({"columns.direction": "Dr/Cr"}, add_march((24, "20.00"), (25, "-30.00"))),
    "98_balance_or_amount": ({"columns.amount": 1}, add_march((24, "1500.00"), (25, "-45.60"))),
}

SPLIT = "Line 2: A comma may split an amount. Put amounts in quotation marks."

# What no reading explains: the status, the code, and what the answer says of the first row.
REFUSED = {
    "70_hundreds_in_heading": (400, "amount_unit_unsupported", "Amount in hundreds"),
    "70_millions_in_heading": (400, "amount_unit_unsupported", "Amount (m EUR)"),
    "70_millions_in_chinese": (400, "amount_unit_unsupported", "金额（百万）"),
    "70_amount_times_thousand": (400, "amount_unit_unsupported", "Amount x1000"),
    "75_row_within_a_quote": (415, "statement_format_unknown", "Line 2: missing closing quotation mark"),
    "75_last_row_cut": (400, "statement_unreadable", "Line 3 ends before its last column"),
    "97_whole_number_beside_empty_amount": (400, "statement_unreadable", "Line 6: Amount: The amount is missing."),
    "99_comma_before_currency": (400, "statement_unreadable", SPLIT),
    "99_comma_before_reference": (400, "statement_unreadable", SPLIT),
    "99_other_headings_below": (400, "statement_unreadable", "Line 4 has other column headings than line 1."),
    "99_other_headings_above": (400, "statement_unreadable", "Line 4 has other column headings than line 1."),
    "99_declined_below": (400, "statement_unreadable", "Line 5: the rows below “Declined transactions”"),
    "99_planned_below": (400, "statement_unreadable", "Line 5: the rows below “Geplante Umsätze”"),
    "98_balance_at_day_end": (
        400,
        "statement_unreadable",
        "Line 2: Amount: The balance does not show whether this is money in or money out.",
    ),
}

ACCOUNT_CURRENCIES = {"96_counts_before_yen": "JPY"}
