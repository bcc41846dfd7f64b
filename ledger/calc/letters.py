"""Texts without accents."""

import re
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


_BESIDE_WORDS = re.compile(r"[\W_]+")


def fold_words(*texts: str) -> str:
    """What texts say, without case, blanks and signs: files break lines and drop characters differently.

    >>> fold_words("Initech GmbH", "Invoice 10/42") == fold_words("INITECH", "GMBH  invoice 1042")
    True
    """
    return _BESIDE_WORDS.sub("", "".join(texts).casefold())
