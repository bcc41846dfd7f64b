"""Which encoding a text is in: as its bytes allow, and as the letters beside each other are plausible. No database."""

import re
import unicodedata

from charset_normalizer import from_bytes

SAMPLE_BYTES = 64 * 1024
SINGLE_BYTE = ("cp1252", "cp1250", "cp1251", "iso8859-2", "iso8859-15")
MULTI_BYTE = ("gb18030", "shift_jis", "euc_jp")
KNOWN = {
    "utf-8": "utf-8", "utf-16": "utf-16", "windows-1250": "cp1250", "windows-1251": "cp1251", "windows-1252": "cp1252",
    "iso-8859-2": "iso8859-2", "iso-8859-15": "iso8859-15", "gb18030": "gb18030", "shift_jis": "shift_jis",
}  # fmt: skip
_CONTROL = re.compile("[\x80-\x84\x86-\x9f]")  # ISO 8859 has them, and no text; U+0085 is a line's end
_RUN = re.compile(rb"[\x80-\xff]+")
_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def is_mostly_utf8(content: bytes) -> bool:
    """Whether a text is UTF-8 but for single bytes, as programs leave them that cut letters in two.

    >>> is_mostly_utf8("Schröder, Grü".encode()[:-1]), is_mostly_utf8("Größe".encode("cp1252"))
    (True, False)
    """
    sample = content[: 16 * SAMPLE_BYTES]
    whole = sum(len(match) for match in _UTF8.findall(sample))
    return whole > sum(len(run) for run in _RUN.findall(sample)) - whole


def find_encodings(content: bytes) -> list[str]:
    """The encodings of texts that are no UTF-8, the most plausible first; several where their letters are as plausible.

    >>> find_encodings("Sklep spożywczy, żółty".encode("cp1250"))[0], find_encodings("Größe".encode("cp1252"))[0]
    ('cp1250', 'cp1252')
    """
    sample = content[:SAMPLE_BYTES]
    is_cut = len(content) > len(sample)
    texts = {
        name: text
        for name in (*MULTI_BYTE, *SINGLE_BYTE)
        if (text := _decode(sample, name, is_cut=is_cut)) is not None and not _CONTROL.search(text)
    }
    scores = {name: _implausible(text) + _rarity(name, text) for name, text in texts.items()}
    if not scores:
        return []
    best = min(scores.values())
    found = [name for name, score in scores.items() if score <= best + 0.02]
    if len({texts[name] for name in found}) > 1:
        likely = from_bytes(sample, cp_isolation=found).best() if len(sample) > 200 else None
        if likely is not None and likely.encoding in found:
            found.sort(key=lambda name: name != likely.encoding)
    return found


def _decode(sample: bytes, encoding: str, *, is_cut: bool) -> str | None:
    for cut in range(4 if is_cut else 1):  # a sample that was cut off may end within a letter
        try:
            return sample[: len(sample) - cut].decode(encoding)
        except UnicodeDecodeError:
            if encoding in SINGLE_BYTE:
                return None
    return None


def _script(letter: str) -> str:
    if letter.isascii():
        return "LATIN"
    return unicodedata.name(letter, "").partition(" ")[0]


def _implausible(text: str) -> float:
    """The share of letters beyond ASCII that stand where none of a language stands."""
    wrong = count = 0.0
    for place, sign in enumerate(text):
        if sign.isascii():
            continue
        count += 1
        before = text[place - 1] if place else " "
        after = text[place + 1] if place + 1 < len(text) else " "
        if unicodedata.category(sign) in ("Cc", "Cn", "Co"):
            wrong += 2
        elif not sign.isalpha():
            wrong += 1 if before.isalpha() and after.isalpha() else 0.3
        else:
            scripts = {_script(each) for each in (before, after) if each.isalpha()} | {_script(sign)}
            wrong += (
                1
                if "LATIN" in scripts and scripts & {"CYRILLIC", "CJK", "HIRAGANA", "KATAKANA", "GREEK", "HALFWIDTH"}
                else 0
            )
            wrong += 0.5 if sign.isupper() and before.islower() else 0
    return wrong / count if count else 0.0


_USUAL = {
    "cp1252": set("äöüßéèêàâçñóíáúõãœøæåÄÖÜÉØÅÆëïîôûùòì"),
    "cp1250": set("ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉÍŇŘŠŤÚŽőűŐŰöüÖÜĺľăâîşţđĐäß"),
    "iso8859-2": set("ąćęłńóśźżĄĆĘŁŃÓŚŹŻáčďéěíňřšťúůýžÁČĎÉÍŇŘŠŤÚŽőűŐŰöüÖÜĺľăâîşţđĐäß"),
    "iso8859-15": set("äöüßéèêàâçñóíáúõãœøæåÄÖÜÉØÅÆëïîôûùòì€"),
}


def _rarity(encoding: str, text: str) -> float:
    """The share of letters that the languages of an encoding do not have, and a word for those who use it most."""
    letters = [sign for sign in text if not sign.isascii() and sign.isalpha()]
    usual = _USUAL.get(encoding)
    rank = {"cp1252": 0.0, "cp1250": 0.001, "cp1251": 0.001, "iso8859-15": 0.004, "iso8859-2": 0.003}.get(encoding, 0.0)
    if not letters:
        return rank
    if usual is not None:
        return 0.5 * sum(letter not in usual for letter in letters) / len(letters) + rank
    if encoding == "cp1251":
        return 0.3 * sum(not "а" <= letter.lower() <= "я" for letter in letters) / len(letters) + rank
    rare = sum(_script(letter) == "HALFWIDTH" or not _is_usual_han(letter) for letter in letters)
    return 0.5 * rare / len(letters) + rank


def _is_usual_han(letter: str) -> bool:
    """Whether a character is kana or of the first plane of the national standards, which hold those in use."""
    if "\u3040" <= letter <= "\u30ff":
        return True
    try:
        return letter.encode("gb2312")[0] < 0xD8
    except UnicodeEncodeError:
        try:
            return letter.encode("shift_jis")[0] < 0x98
        except UnicodeEncodeError:
            return False


def find_unsure_encodings(content: bytes) -> list[str]:
    """Names of the encodings under which a text is as plausible, in other letters; none where one alone is.

    >>> find_unsure_encodings("Peña".encode("cp1252")), find_unsure_encodings("Größe".encode("cp1252"))
    (['windows-1252', 'windows-1250'], [])
    """
    sample = content[:SAMPLE_BYTES]
    if sample[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in sample or is_mostly_utf8(sample):
        return []
    if _decode(sample, "utf-8", is_cut=len(content) > len(sample)) is not None:
        return []
    names = {codec: name for name, codec in KNOWN.items()}
    found: dict[str, str] = {}
    for codec in find_encodings(content):
        if codec in names:
            found.setdefault(sample.decode(codec, errors="replace"), names[codec])
    return list(found.values()) if len(found) > 1 else []
