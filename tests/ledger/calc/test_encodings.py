"""Encodings told apart by letters that one of them cannot mean."""

import pytest

from ledger.calc.encodings import find_encodings, find_equally_plausible_encodings


@pytest.mark.parametrize("text", ["Café crème déjà payé 5 €", "Œuvre élève 7 €", "Müller 5 € Šafar", "sœur"])
def test_euro_signs_and_ligatures_show_iso_8859_15(text):
    content = text.encode("iso8859-15")
    assert find_encodings(content) == ["iso8859-15"]
    assert find_equally_plausible_encodings(content) == []


def test_euro_sign_of_windows_1252_is_still_read():
    assert find_encodings("Größe 5 €".encode("cp1252"))[0] == "cp1252"


def test_fraction_that_may_be_a_ligature_is_asked():
    assert find_equally_plausible_encodings("½ Menü, Größe ¼".encode("cp1252")) == ["windows-1252", "iso-8859-15"]
