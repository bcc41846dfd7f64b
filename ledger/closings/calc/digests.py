"""The digest of a closing: SHA-256 over JSON in the canonical form of RFC 8785."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

MIN_EXPONENT_VALUE = Decimal("1e21")  # from here on ECMAScript writes numbers with an exponent


def format_canonical_number(value: Decimal) -> str:
    """Write a number as RFC 8785 does: the shortest digits that read back as the same IEEE 754 double.

    >>> [format_canonical_number(Decimal(text)) for text in ("1234.50", "-0.00", "1e20")]
    ['1234.5', '0', '100000000000000000000']
    """
    double = Decimal(repr(float(value))).normalize()
    if not double:
        return "0"
    if abs(double) < MIN_EXPONENT_VALUE:
        return format(double, "f")
    sign, digits, exponent = double.as_tuple()
    text = "".join(map(str, digits))
    fraction = f".{text[1:]}" if len(text) > 1 else ""
    return f"{'-' if sign else ''}{text[0]}{fraction}e+{len(text) - 1 + int(exponent)}"


def to_canonical_json(value: Any) -> str:
    """Write objects, lists, texts, numbers and null in the form of RFC 8785. Names must be ASCII.

    >>> to_canonical_json({"b": [Decimal("2.50"), 1], "a": None})
    '{"a":null,"b":[2.5,1]}'
    """
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(name)}:{to_canonical_json(value[name])}" for name in sorted(value)) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(map(to_canonical_json, value)) + "]"
    if isinstance(value, Decimal):
        return format_canonical_number(value)
    return json.dumps(value, ensure_ascii=False)


def compute_digest(
    *, company_id: str, month: str, version: int, figures: Sequence[Mapping[str, Any]], previous_digest: str | None
) -> str:
    """Compute the digest of a closing, in hexadecimal digits.

    ``figures`` are those of the API, each ``value`` as a decimal number; ``month`` is YYYY-MM.
    """
    document = {
        "companyId": company_id,
        "month": month,
        "version": version,
        "figures": list(figures),
        "previousDigest": previous_digest,
    }
    return hashlib.sha256(to_canonical_json(document).encode()).hexdigest()
