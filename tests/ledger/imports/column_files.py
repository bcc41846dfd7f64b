"""Small bank files about which column has the currency, the day, the other party and the account, each with what is
right."""


def euros(*rows):
    return [(f"2025-{day}", amount, "EUR") for day, amount in rows]


DOLLARS_AND_EUROS = [("2025-03-01", "-5.00", "USD"), ("2025-03-02", "10.00", "EUR")]
AMAZON_IN_APRIL = euros(("04-01", "-45.60"), ("04-02", "5.00"))

ROWS = {
    "120_currency_local": DOLLARS_AND_EUROS,
    "120_currency_named_as_amount": DOLLARS_AND_EUROS,
    "122_authorised_and_settled": AMAZON_IN_APRIL,
    "122_booked_dutch": AMAZON_IN_APRIL,
    "122_booked_german": AMAZON_IN_APRIL,
    "122_booked_polish": AMAZON_IN_APRIL,
    "122_posted_date": AMAZON_IN_APRIL,
    "121_revolut_business_a": euros(("03-02", "1000.00"), ("03-04", "-49.00")),
    "121_revolut_business_b": euros(("04-02", "-20.10"), ("04-04", "-101.00")),
}
ASKED = {
    "120_currency_of_merchant": ({"columns.currency": "Merchant currency"}, DOLLARS_AND_EUROS),
    "120_currency_of_source": ({"columns.currency": "Source currency"}, DOLLARS_AND_EUROS),
    "120_currency_of_transaction": ({"columns.currency": "Transaktionswährung"}, DOLLARS_AND_EUROS),
    "120_currency_polish": ({"columns.currency": "Waluta transakcji"}, DOLLARS_AND_EUROS),
}
REFUSED = {}
