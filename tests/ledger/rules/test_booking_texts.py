"""Words that say only how a payment was made or booked make no texts similar."""

import pytest

from ledger.rules.calc.booking_phrases import strip_booking_phrases
from ledger.rules.calc.category_proposals import extract_first_word, extract_text_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("FOLGELASTSCHRIFT Stellplatz 3 Oktober Umsatz gebucht", {"stellplatz", "oktober"}),
        ("GUTSCHR. UEBERWEISUNG Abo Oktober KD 2207 Umsatz gebucht", {"abo", "oktober", "kd"}),
        ("Gutschrift Überweisung Danke", {"danke"}),
        ("SEPA-Basislastschrift SVWZ+ Strom", {"strom"}),
        ("EREF: 7 MREF: 8 Strom", {"strom"}),
        ("Direct Debit, gym", {"gym"}),
        ("CARD PAYMENT / bakery", {"bakery"}),
        ("Faster Payment Dauerauftrag standing order", set()),
        ("LOHN  GEHALT Gehalt Oktober", {"lohn", "gehalt", "oktober"}),
        ("Rücklastschrift Umsatz Shop", {"rucklastschrift", "umsatz", "shop"}),
        ("Gutschrift Retoure", {"gutschrift", "retoure"}),
    ],
)
def test_words_of_booking_are_no_words_of_a_text(text, words):
    assert extract_text_words(text) == words


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Hosting March", "hosting"),
        ("4711 hosting", "4711"),
        ("FOLGELASTSCHRIFT - Porto", "porto"),
        ("Umsatz gebucht", ""),
        ("", ""),
    ],
)
def test_first_word_is_the_first_that_says_something(text, word):
    assert extract_first_word(text) == word


@pytest.mark.django_db
def test_payments_booked_alike_suggest_nothing_for_each_other(api, books, bank, hosting):
    def create_payment(text, name):
        description = f"FOLGELASTSCHRIFT {text} Umsatz gebucht"
        return books.create_transaction(bank, "-100.00", fromTo=name, description=description)["id"]

    past_ids = [create_payment("Server 09/2026", "Anna"), create_payment("Domains 09/2026", "Berta")]
    selection = {"mode": "ids", "ids": past_ids}
    assert api.post("transactions/categorize", {"selection": selection, "categoryId": hosting}).status_code == 200
    other_ids = [create_payment(text, "New") for text in ("Stellplatz Oktober", "Porto Frankierkarte", "7712", "")]
    similar_id = create_payment("Server 10/2026", "New")
    proposals = api.post("transactions/proposals", {"transactionIds": [*other_ids, similar_id]}).json()
    assert [proposals[row_id] for row_id in other_ids] == [[]] * 4
    assert [(each["categoryId"], each["basis"]["kind"]) for each in proposals[similar_id]] == [(hosting, "text")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("FOLGELASTSCHRIFT Stellplatz 3 Oktober Umsatz gebucht", "Stellplatz 3 Oktober"),
        ("GUTSCHR. UEBERWEISUNG Abo Oktober KD 2207 Umsatz gebucht", "Abo Oktober KD 2207"),
        ("Online-Überweisung: Miete Straße 5", "Miete Straße 5"),
        ("SEPA-Basislastschrift SVWZ+ Strom", "Strom"),
        ("Rücklastschrift Umsatz Shop", "Rücklastschrift Umsatz Shop"),
        ("Überweisung", "Überweisung"),
        ("ﬁnal Kartenzahlung İstanbul", "ﬁnal İstanbul"),
        ("", ""),
    ],
)
def test_text_is_shown_without_words_of_booking(text, shown):
    assert strip_booking_phrases(text) == shown
