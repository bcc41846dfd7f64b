"""Small bank files around signs, directions, balances and sums, each with what is right; further ones of
``bank_files``."""


def eur(*rows):
    return [(f"2024-03-{day:02}", amount, "EUR") for day, amount in rows]


RENT_AND_SALE = eur((24, "-500.00"), (25, "120.50"))
RENT_SALE_AND_FEE = eur((24, "-500.00"), (25, "120.50"), (26, "-1.00"))
SHOP_AND_PAYMENT = eur((24, "-20.00"), (25, "-9.00"), (26, "500.00"))

ROWS = {
    "72_direction_with_reversal_balance": eur((23, "1000.00"), (24, "-500.00"), (25, "20.50"), (26, "99.00")),
    "73_direction_of_signed_amounts": eur((24, "-500.00"), (25, "-1.00")),
    "75_debit_reversal_balance": eur((24, "-500.00"), (25, "20.00"), (26, "120.50")),
    "77_balance_before": RENT_SALE_AND_FEE,
    "77_equal_amounts_newest_first": eur((24, "-10.00"), (25, "-10.00"), (26, "-10.00")),
    "79_opening_closing": RENT_AND_SALE,
    "79_opening_closing_balance": RENT_AND_SALE,
    "80_card_purchase_payment_owed": eur((24, "-20.50"), (25, "-9.00"), (28, "479.50")),
    "81_named_balances": RENT_AND_SALE,
    "81_payments_like_balances": eur(
        (24, "-500.00"), (25, "120.50"), (26, "-50.00"), (27, "-40.00"), (28, "-89.90"), (29, "-100.00"), (30, "7.00")
    ),
    "81_balance_as_text_of_a_payment": RENT_SALE_AND_FEE,
    "83_cargo_abono": RENT_AND_SALE,
    "83_deposit_withdrawal": RENT_AND_SALE,
    "84_unsigned_balance_with_opening": RENT_AND_SALE,
    "84_one_withdrawal_among_deposits": eur(*((day, "10.00") for day in range(2, 12)), (12, "-50.00")),
    "85_one_fee_among_many": eur(*((day, "10.00") for day in range(1, 12)), (12, "-51.00")),
    "85_debit_credit_fee_balance": eur((24, "-501.50"), (25, "120.00"), (26, "-101.00")),
    "89_paypal_memo": RENT_AND_SALE,
    "90_total_of_debits_and_credits": RENT_AND_SALE,
    "91_totals_of_debits_and_credits": RENT_AND_SALE,
    "92_turnovers_with_days": RENT_AND_SALE,
    "94_cents_signed_by_the_balance": RENT_AND_SALE,
    "95_balances_named_by_the_reference": RENT_AND_SALE,
    "95_balances_without_words": RENT_AND_SALE,
    "95_payments_without_words": eur((24, "-500.00"), (25, "120.50"), (26, "-1.00"), (27, "-9.00")),
}

ASKED = {
    "72_direction_with_reversal": (
        {"minusMeans.direction": "reverses"},
        eur((24, "-500.00"), (25, "20.50"), (26, "99.00")),
    ),
    "74_direction_against_signs": ({"minusMeans.direction": "repeats"}, RENT_AND_SALE),
    "75_debit_tie": ({"minusMeans.debit": "repeats"}, eur((24, "-500.00"), (25, "20.00"), (26, "120.50"))),
    "76_credit_with_minus": ({"minusMeans.credit": "repeats"}, eur((24, "-20.00"), (25, "500.00"))),
    "78_balance_owed": ({"flipSign": False}, eur((24, "-20.00"), (25, "-30.00"), (26, "500.00"))),
    "80_purchase_refund_payment": (
        {"directionValues": {"in": ["refund", "payment"], "out": ["purchase"]}},
        eur((24, "-20.50"), (25, "5.00"), (28, "479.50")),
    ),
    "80_purchase_payment_owed": (
        {"directionValues": {"in": ["payment"], "out": ["purchase"]}},
        eur((24, "-20.50"), (25, "-9.00"), (28, "479.50")),
    ),
    "82_unknown_direction": (
        {"directionValues": {"in": ["c"], "out": ["d", "x"]}},
        eur((24, "-500.00"), (25, "120.50"), (26, "-9.00")),
    ),
    "84_unsigned_balance": ({"unprovenSign": "out"}, RENT_AND_SALE),
    "93_direction_before_amount_with_fees": (
        {"columns.fee": "Fee"},
        eur((24, "-501.50"), (25, "119.50"), (26, "-10.50")),
    ),
    "85_debit_credit_fee": ({"columns.fee": "Fee"}, eur((24, "-501.50"), (25, "120.50"))),
    "86_only_credits_marked": ({"flipSign": True}, RENT_AND_SALE),
    "87_debits_raise_the_balance": ({"flipSign": False}, SHOP_AND_PAYMENT),
    "87_words_against_the_balance": ({"directionValues": {"in": ["c"], "out": ["d"]}}, SHOP_AND_PAYMENT),
    "88_direction_of_the_balance": ({"columns.direction": 5}, RENT_AND_SALE),
}

SPLIT = "Line 2: entire row: A comma may split an amount. Put amounts in quotation marks."

# What no reading explains: the status, the code, and what the answer says of the first row.
REFUSED = {
    "70_comma_within_amount": (
        400,
        "statement_unreadable",
        "Line 2: entire row: The row has 4 columns, the table has 3.",
    ),
    "71_comma_within_all_amounts": (400, "statement_unreadable", SPLIT),
    "71_comma_before_notes": (400, "statement_unreadable", SPLIT),
    "71_decimal_commas": (400, "statement_unreadable", SPLIT),
}

CARDS = ("80_purchase_refund_payment", "80_card_purchase_payment_owed")
