"""Normalize texts for comparison: without accents, or without case, blanks and punctuation."""

import re
import unicodedata
from functools import lru_cache


def strip_accents(text: str) -> str:
    """Return the text without accents; compatibility characters become plain letters.

    Works letter by letter: normalizing a whole text sorts combining marks, which takes quadratic time.

    >>> strip_accents("Café"), strip_accents("ﬁn № 5")
    ('Cafe', 'fin No 5')
    """
    return text if text.isascii() else "".join(map(_strip_letter_accents, text))


@lru_cache(maxsize=4096)
def _strip_letter_accents(letter: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part))


_NON_WORD_CHARACTERS = re.compile(r"[\W_]+")


def fold_words(*texts: str) -> str:
    """Join texts without case, blanks and punctuation, because files break lines and drop characters differently.

    >>> fold_words("Initech GmbH", "Invoice 10/42") == fold_words("INITECH", "GMBH  invoice 1042")
    True
    """
    return _NON_WORD_CHARACTERS.sub("", "".join(texts).casefold())
