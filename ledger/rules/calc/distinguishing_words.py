"""The word of a text that tells several kinds of payments of one counterparty apart."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from ledger.rules.calc.booking_phrases import remove_booking_phrases
from ledger.rules.calc.rule_matcher import FoldedText, TextCondition, build_text_test, fold_text

K = TypeVar("K", bound=Hashable)
MIN_TEXTS = 2
MIN_LETTERS = 2
PUNCTUATION = ".,:;-/()"


def find_distinguishing_words(texts_by_key: Mapping[K, Sequence[str]]) -> dict[K, str]:
    """Return the first word that all texts of a key share and no text of another key contains, where there is one.

    A key needs two texts, so that a word that only one of them has is not taken for its sign. Words with digits are
    numbers of bills, contracts or customers. The word is written as in the first text of the key.

    >>> find_distinguishing_words({"a": ["LOHNST SEPT", "Lohnst Okt"], "b": ["KSt 3/26", "KST 4/26"], "c": ["Zins"]})
    {'a': 'LOHNST', 'b': 'KSt'}
    """
    words = {key: find_shared_first_word(texts) for key, texts in texts_by_key.items()}
    return {
        key: find_written_word(texts_by_key[key][0], word)
        for key, word in words.items()
        if word
        and not any(
            contains_word(text, word) for other, texts in texts_by_key.items() if other != key for text in texts
        )
    }


def find_shared_first_word(texts: Sequence[str]) -> str:
    """Return the folded word with which all texts begin, behind phrases of the bank; "" if there is none."""
    first_words = {next(iter(remove_booking_phrases(text).split()), "").strip(PUNCTUATION) for text in texts}
    if len(texts) < MIN_TEXTS or len(first_words) != 1:
        return ""
    word = first_words.pop()
    is_usable = sum(map(str.isalpha, word)) >= MIN_LETTERS and not any(map(str.isdigit, word))
    return word if is_usable and all(contains_word(text, word) for text in texts) else ""


def find_written_word(text: str, word: str) -> str:
    """Return a folded word as the text writes it; the folded word if it is a part of another one."""
    written_words = (written.strip(PUNCTUATION) for written in text.split())
    return next((written for written in written_words if fold_text(written) == word), word)


def contains_word(text: str, word: str) -> bool:
    """Whether a rule with the condition that the text contains the whole word would match."""
    return build_text_test(TextCondition("wholeWord", word))(FoldedText(text))
