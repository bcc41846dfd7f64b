"""Words that say only how a payment was made or booked make no texts similar."""

import pytest

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
    def book(text):
        description = f"FOLGELASTSCHRIFT {text} Umsatz gebucht"
        return books.book(bank, "-100.00", fromTo=text.split()[0], description=description)["id"]

    past = [book("Server 09/2026"), book("Domains 09/2026")]
    selection = {"mode": "ids", "ids": past}
    assert api.post("transactions/categorize", {"selection": selection, "categoryId": hosting}).status_code == 200
    ids = [book(text) for text in ("Stellplatz Oktober", "Porto Frankierkarte", "7712")]
    bare = books.book(bank, "-1.00", fromTo="New", description="FOLGELASTSCHRIFT Umsatz gebucht")["id"]
    alike = books.book(bank, "-5.00", fromTo="New", description="FOLGELASTSCHRIFT Server 10/2026 Umsatz gebucht")["id"]
    answer = api.post("transactions/proposals", {"transactionIds": [*ids, bare, alike]}).json()
    assert [answer[row] for row in [*ids, bare]] == [[]] * 4
    assert [(each["categoryId"], each["basis"]["kind"]) for each in answer[alike]] == [(hosting, "text")]
