"""Texts without accents."""

import unicodedata
from functools import lru_cache


def bare(text: str) -> str:
    """The text without accents, each letter as what it stands for.

    Letter by letter: in a text as a whole the marks behind a letter are sorted, which takes time by the square of their
    number; here they are left out.

    >>> bare("Café"), bare("ﬁn № 5")
    ('Cafe', 'fin No 5')
    """
    return text if text.isascii() else "".join(map(_of_one, text))


@lru_cache(maxsize=4096)
def _of_one(letter: str) -> str:
    return "".join(part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part))
