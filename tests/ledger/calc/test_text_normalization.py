"""Texts without accents: as Unicode takes them apart, in time that is in proportion to them."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.calc.text_normalization import strip_accents
from ledger.imports.calc.headings import fold_heading
from ledger.rules.calc.rule_matcher import fold_text

MARKS = "\u0315\u0300"  # of two classes, and in the wrong order


@given(st.text(st.characters() | st.sampled_from(MARKS + "\u0f73\uff9eé각ﬁ№")))
def test_accents_are_stripped_as_in_whole_text_normalization(text):
    whole = unicodedata.normalize("NFKD", text)
    assert strip_accents(text) == "".join(each for each in whole if not unicodedata.combining(each))


@pytest.mark.parametrize(("door", "said"), [(fold_text, "cafe"), (fold_heading, "cafe")])
def test_combining_marks_are_normalized_one_at_a_time(door, said, monkeypatch):
    """Sorting them takes time by the square of their number: 64,000 in a heading took six seconds."""
    sorted_at_once, normalize = [], unicodedata.normalize
    monkeypatch.setattr(
        unicodedata, "normalize", lambda form, text: (sorted_at_once.append(len(text)), normalize(form, text))[1]
    )
    assert door("CAFE" + MARKS * 1000) == said
    assert max(sorted_at_once, default=0) <= 1
