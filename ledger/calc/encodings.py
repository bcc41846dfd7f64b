"""Detect the encoding of a text from its bytes and from how plausible its letters are next to each other."""

import re
import unicodedata

from charset_normalizer import from_bytes

SAMPLE_BYTES = 64 * 1024
SINGLE_BYTE = ("cp1252", "cp1250", "cp1251", "cp1254", "iso8859-2", "iso8859-15")
MULTI_BYTE = ("gb18030", "shift_jis", "euc_jp")
CODEC_BY_NAME = {
    "utf-8": "utf-8", "utf-16": "utf-16", "windows-1250": "cp1250", "windows-1251": "cp1251", "windows-1252": "cp1252",
    "windows-1254": "cp1254", "iso-8859-2": "iso8859-2", "iso-8859-15": "iso8859-15", "gb18030": "gb18030",
    "shift_jis": "shift_jis",
}  # fmt: skip
_CONTROL_CHARACTERS = re.compile("[\x80-\x84\x86-\x9f]")  # in ISO 8859 but in no text; U+0085 is a line end
_NON_ASCII_RUN = re.compile(rb"[\x80-\xff]+")
_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def is_mostly_utf8(content: bytes) -> bool:
    """Return whether a text is UTF-8 except for single bytes, as programs leave them that cut characters in two.

    >>> is_mostly_utf8("Schröder, Grü".encode()[:-1]), is_mostly_utf8("Größe".encode("cp1252"))
    (True, False)
    """
    sample = content[: 16 * SAMPLE_BYTES]
    valid_bytes = sum(len(match) for match in _UTF8_SEQUENCE.findall(sample))
    return valid_bytes > sum(len(run) for run in _NON_ASCII_RUN.findall(sample)) - valid_bytes


def find_encodings(content: bytes) -> list[str]:
    """Return the plausible encodings of a text that is not UTF-8, best first; several if equally plausible.

    >>> find_encodings("Sklep spożywczy, żółty".encode("cp1250"))[0], find_encodings("Größe".encode("cp1252"))[0]
    ('cp1250', 'cp1252')
    """
    sample = content[:SAMPLE_BYTES]
    is_cut = len(content) > len(sample)
    texts = {
        name: text
        for name in (*MULTI_BYTE, *SINGLE_BYTE)
        if (text := _decode(sample, name, is_cut=is_cut)) is not None and not _CONTROL_CHARACTERS.search(text)
    }
    scores = {name: _score_implausibility(text) + _score_rarity(name, text) for name, text in texts.items()}
    if not scores:
        return []
    best = min(scores.values())
    candidates = [name for name, score in scores.items() if score <= best + 0.02]
    if len({texts[name] for name in candidates}) > 1:
        detected = from_bytes(sample, cp_isolation=candidates).best() if len(sample) > 200 else None
        if detected is not None and detected.encoding in candidates:
            candidates.sort(key=lambda name: name != detected.encoding)
    return candidates


def _decode(sample: bytes, encoding: str, *, is_cut: bool) -> str | None:
    for cut in range(4 if is_cut else 1):  # a truncated sample may end within a character
        try:
            return sample[: len(sample) - cut].decode(encoding)
        except UnicodeDecodeError:
            if encoding in SINGLE_BYTE:
                return None
    return None


def _get_script(letter: str) -> str:
    if letter.isascii():
        return "LATIN"
    return unicodedata.name(letter, "").partition(" ")[0]


CURRENCY_SIGN = "¤"  # a placeholder that nobody writes; ISO-8859-15 has the euro in its place
FRACTIONS = "¼½¾"  # ISO-8859-15 has Œ, œ and Ÿ in their places


def _score_implausibility(text: str) -> float:
    """Return the share of non-ASCII characters in places where no language has them."""
    penalty = count = 0.0
    for position, character in enumerate(text):
        if character.isascii():
            continue
        count += 1
        previous_character = text[position - 1] if position else " "
        next_character = text[position + 1] if position + 1 < len(text) else " "
        if unicodedata.category(character) in ("Cc", "Cn", "Co") or character == CURRENCY_SIGN:
            penalty += 2
        elif character in FRACTIONS:
            penalty += 1 if previous_character.isalpha() or next_character.isalpha() else 0
        elif not character.isalpha():
            penalty += 1 if previous_character.isalpha() and next_character.isalpha() else 0.3
        else:
            scripts = {_get_script(each) for each in (previous_character, next_character) if each.isalpha()} | {
                _get_script(character)
            }
            penalty += (
                1
                if "LATIN" in scripts and scripts & {"CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "GREEK", "HALFWIDTH"}
                else 0
            )
            penalty += 0.5 if character.isupper() and previous_character.islower() else 0
    return penalty / count if count else 0.0


ICELANDIC_LETTERS = set("ðþýÐÞÝ")  # Windows-1254 has Turkish letters in their places
_COMMON_LETTERS = {
    "cp1252": set("äöüßéèêàâçñóíáúõãŒœøæåÄÖÜÉØÅÆëïîôûùòì") | ICELANDIC_LETTERS,
    "cp1254": set("çğıöşüâîûÇĞİÖŞÜÂ"),
    "cp1250": set("ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉÍŇŘŠŤÚŽőűŐŰöüÖÜĺľăâîşţđĐäß"),
    "iso8859-2": set("ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉÍŇŘŠŤÚŽőűŐŰöüÖÜĺľăâîşţđĐäß"),
    "iso8859-15": set("äöüßéèêàâçñóíáúõãŒœøæåÄÖÜÉØÅÆëïîôûùòì€"),
}


def _score_rarity(encoding: str, text: str) -> float:
    """Return the share of letters unusual for the languages of an encoding, with a small bias to common encodings."""
    letters = [sign for sign in text if not sign.isascii() and sign.isalpha()]
    common_letters = _COMMON_LETTERS.get(encoding)
    rank = {
        "cp1252": 0.0,
        "cp1250": 0.001,
        "cp1251": 0.001,
        "cp1254": 0.002,
        "iso8859-15": 0.004,
        "iso8859-2": 0.003,
    }.get(encoding, 0.0)
    if not letters:
        return rank
    if common_letters is not None:
        icelandic = sum(letter in ICELANDIC_LETTERS for letter in letters) if encoding == "cp1252" else 0
        unusual = sum(letter not in common_letters for letter in letters)
        return (0.5 * unusual + 0.15 * icelandic) / len(letters) + rank
    if encoding == "cp1251":
        return 0.3 * sum(not "а" <= letter.lower() <= "я" for letter in letters) / len(letters) + rank
    rare = sum(_get_script(letter) == "HALFWIDTH" or not _is_common_han(letter) for letter in letters)
    return 0.5 * rare / len(letters) + rank


def _is_common_han(letter: str) -> bool:
    """Return whether a character is kana or in the first plane of the national standards, the common ones."""
    if "\u3040" <= letter <= "\u30ff":
        return True
    try:
        return letter.encode("gb2312")[0] < 0xD8
    except UnicodeEncodeError:
        try:
            return letter.encode("shift_jis")[0] < 0x98
        except UnicodeEncodeError:
            return False


def find_equally_plausible_encodings(content: bytes) -> list[str]:
    """Names of the encodings under which a text is as plausible, in other letters; none where one alone is.

    >>> [find_equally_plausible_encodings(text.encode("cp1252")) for text in ("Peña", "Größe")]
    [['windows-1252', 'windows-1250'], []]
    """
    sample = content[:SAMPLE_BYTES]
    if sample[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in sample or is_mostly_utf8(sample):
        return []
    if _decode(sample, "utf-8", is_cut=len(content) > len(sample)) is not None:
        return []
    names = {codec: name for name, codec in CODEC_BY_NAME.items()}
    names_by_text: dict[str, str] = {}
    for codec in find_encodings(content):
        if codec in names:
            names_by_text.setdefault(sample.decode(codec, errors="replace"), names[codec])
    return list(names_by_text.values()) if len(names_by_text) > 1 else []
