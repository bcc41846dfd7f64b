"""Characters that change the direction of the text around them.

Names may not have them (`companies.names`), but texts of banks and of the API may: in a page, one such text could
reorder the sentence or the amounts beside it.
"""

DIRECTION_MARKS = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
ENCODED_MARKS = [mark.encode() for mark in DIRECTION_MARKS]


def remove_direction_marks(content: bytes) -> bytes:
    r"""Return a UTF-8 text without direction marks.

    >>> remove_direction_marks("Shop\u202e 12".encode())
    b'Shop 12'
    """
    for mark in ENCODED_MARKS:
        content = content.replace(mark, b"")
    return content
