"""Small bank files about currencies, units, orders of dates and decimal marks, each with what is right."""


def rows_in(currency, *rows):
    return [(*row, currency) for row in rows]


SMALL = (("2024-03-24", "-7.00"), ("2024-03-25", "8.00"))
LARGE = (("2024-03-24", "-500.00"), ("2024-03-25", "120.50"))

ROWS = {
    "70_amount_in_cents": rows_in("EUR", *LARGE),
    "70_amount_minor": [("2024-03-24", "-500.00", "EUR"), ("2024-03-25", "400.00", "JPY")],
    "71_short_years_first": rows_in("EUR", *LARGE, ("2024-04-02", "-1.00")),
    "72_amount_named_usd": rows_in("USD", *SMALL),
    "72_amount_usd": rows_in("USD", *SMALL),
    "72_currency_names": [("2024-03-24", "-7.00", "USD"), ("2024-03-25", "8.00", "EUR")],
    "72_currency_numbers": [("2024-03-24", "-7.00", "USD"), ("2024-03-25", "8.00", "EUR")],
    "72_currency_sign_in_heading": rows_in("PLN", *SMALL),
    "72_dollar_of_the_account": rows_in("CAD", *SMALL),
    "74_rate_with_point": rows_in("EUR", ("2024-03-24", "-4.50"), ("2024-03-25", "2.00")),
    "76_revolut_pending": [("2024-03-24", "-4.50", "EUR"), ("2024-03-27", "-12.00", "EUR", "pending")],
}
ASKED = {
    "71_short_year_alone": ({"dateOrder": "iso"}, rows_in("EUR", ("2024-03-25", "-500.00"))),
    "72_dollar_of_which_country": ({"currency": "AUD"}, rows_in("AUD", *SMALL)),
    "72_kroner_in_cells": ({"currency": "DKK"}, rows_in("DKK", *SMALL)),
    "72_yen_in_cells": ({"currency": "CNY"}, rows_in("CNY", ("2024-03-24", "-700.00"), ("2024-03-25", "800.00"))),
}
REFUSED = {  # the status, the code, and what the detail names
    "70_cents_with_decimals": (400, "amount_unit_unsupported", "Betrag (Cent)"),
    "70_thousands_above": (400, "amount_unit_unsupported", "All amounts in thousands"),
    "70_thousands_in_heading": (400, "amount_unit_unsupported", "Betrag (T€)"),
    "71_mixed_date_orders": (400, "date_orders_mixed", "Line 2 has “13/02/2024” and line 3 has “02/14/2024”"),
    "71_year_24": (400, "statement_unreadable", "Line 2"),
    "72_currency_missing": (400, "currency_unknown", "Line 3"),
    "72_currency_of_nobody": (400, "currency_unknown", "BTC"),
    "72_currency_unknown": (400, "currency_unknown", "n/a"),
    "73_currency_above": (400, "currency_differs", "USD"),
    "73_currency_behind_account": (400, "currency_differs", "USD"),
    "73_currency_behind_balance": (400, "currency_differs", "USD"),
    "73_currency_below_label": (400, "currency_differs", "PLN"),
    "73_currency_of_the_balance": (400, "currency_differs", "USD"),
    "74_mixed_decimal_marks": (400, "decimal_marks_mixed", "Line 2 has “-4,50” and line 3 has “1.25”"),
    "74_thousands_by_letter": (400, "statement_unreadable", "Line 3"),
    "75_open_quote": (415, "statement_format_unknown", "Line 2"),
    "75_quote_closed_by_another_row": (415, "statement_format_unknown", "Line 2"),
}
ACCOUNT_CURRENCIES = {"72_dollar_of_the_account": "CAD"}
