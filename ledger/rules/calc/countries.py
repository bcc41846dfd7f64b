"""Countries of companies by their time zones and names, and the standard VAT rates of European countries."""

from decimal import Decimal
from typing import NamedTuple

from ledger.rules.calc.payment_kinds import extract_kind_words

Countries = frozenset[str]  # ISO 3166-1 alpha-2 codes


class CountryTax(NamedTuple):
    """A country's standard VAT rate, and the time zones where it applies: the Canary Islands have another tax."""

    percent: Decimal
    time_zones: tuple[str, ...]


# As of January 2026. Sources: European Commission, Taxes in Europe Database; gov.uk, estv.admin.ch, skatteetaten.no.
COUNTRY_TAXES = {
    country: CountryTax(Decimal(percent), tuple(zones.split()))
    for country, percent, zones in (
        ("AT", "20", "Europe/Vienna"),
        ("BE", "21", "Europe/Brussels"),
        ("BG", "20", "Europe/Sofia"),
        ("CH", "8.1", "Europe/Zurich"),
        ("CY", "19", "Asia/Nicosia Europe/Nicosia Asia/Famagusta"),
        ("CZ", "21", "Europe/Prague"),
        ("DE", "19", "Europe/Berlin"),
        ("DK", "25", "Europe/Copenhagen"),
        ("EE", "24", "Europe/Tallinn"),
        ("ES", "21", "Europe/Madrid"),
        ("FI", "25.5", "Europe/Helsinki"),
        ("FR", "20", "Europe/Paris"),
        ("GB", "20", "Europe/London Europe/Belfast"),
        ("GR", "24", "Europe/Athens"),
        ("HR", "25", "Europe/Zagreb"),
        ("HU", "27", "Europe/Budapest"),
        ("IE", "23", "Europe/Dublin"),
        ("IT", "22", "Europe/Rome"),
        ("LT", "21", "Europe/Vilnius"),
        ("LU", "17", "Europe/Luxembourg"),
        ("LV", "21", "Europe/Riga"),
        ("MT", "18", "Europe/Malta"),
        ("NL", "21", "Europe/Amsterdam"),
        ("NO", "25", "Europe/Oslo"),
        ("PL", "23", "Europe/Warsaw"),
        ("PT", "23", "Europe/Lisbon"),
        ("RO", "21", "Europe/Bucharest"),
        ("SE", "25", "Europe/Stockholm"),
        ("SI", "22", "Europe/Ljubljana"),
        ("SK", "23", "Europe/Bratislava"),
    )
}
COUNTRY_BY_TIME_ZONE = {zone: country for country, tax in COUNTRY_TAXES.items() for zone in tax.time_zones}


def index_countries(*groups: tuple[str, str]) -> dict[str, Countries]:
    """Return the countries by word, from pairs of countries and words."""
    return {
        word: frozenset(countries.split()) for countries, words in groups for word in extract_kind_words(words.strip())
    }


LEGAL_FORM_COUNTRIES = index_countries(
    ("DE AT CH LI", "gmbh mbh ag kg"),
    ("DE", "ug unternehmergesellschaft ohg gbr ev eg kgaa partg mbb"),
    ("GB IE CY MT", "ltd limited plc"),
    ("GB US", "llp"),
    ("US CA", "llc inc incorporated corp corporation"),
    ("FR", "sas sasu eurl"),
    ("FR LU CH", "sarl"),
    ("FR BE LU CH ES PT GR RO PL", "sa"),
    ("IT RO BE", "srl"),
    ("IT", "spa srls"),
    ("ES", "sl slu"),
    ("PT", "lda"),
    ("NL BE", "bv nv"),
    ("BE", "bvba sprl"),
    ("SE FI", "ab"),
    ("DK", "aps"),
    ("NO", "asa"),
    ("FI", "oy oyj"),
    ("HU", "kft zrt"),
    ("HR SI", "doo"),
    ("CZ SK", "sro"),
    ("PL", "oo"),  # of "sp. z o.o."
    ("BG", "ood eood"),
    ("EE", "ou"),
    ("LT", "uab"),
    ("AU", "pty"),
)
# Legal forms that are words or initials too; they count at the end of a name only.
SHORT_LEGAL_FORMS = frozenset(["sa", "spa", "sl", "ab", "ev", "eg", "nv", "oo", "ou"])
COUNTRY_WORDS = index_countries(
    ("AT", "austria österreich"),
    ("BE", "belgium belgië belgique belgien"),
    ("BG", "bulgaria bulgarien"),
    ("CH", "switzerland schweiz suisse svizzera"),
    ("CY", "cyprus zypern"),
    ("CZ", "czechia czech tschechien"),
    ("DE", "germany deutschland allemagne"),
    ("DK", "denmark danmark dänemark"),
    ("EE", "estonia estland"),
    ("ES", "spain españa spanien"),
    ("FI", "finland suomi finnland"),
    ("FR", "france frankreich"),
    ("GB", "uk england britain großbritannien"),
    ("GR", "greece hellas griechenland"),
    ("HR", "croatia kroatien"),
    ("HU", "hungary ungarn"),
    ("IE", "ireland irland éire"),
    ("IT", "italy italia italien"),
    ("LT", "lithuania litauen"),
    ("LU", "luxembourg luxemburg"),
    ("LV", "latvia lettland"),
    ("MT", "malta"),
    ("NL", "netherlands nederland niederlande holland"),
    ("NO", "norway norge norwegen"),
    ("PL", "poland polska polen"),
    ("PT", "portugal"),
    ("RO", "romania rumänien"),
    ("SE", "sweden sverige schweden"),
    ("SI", "slovenia slowenien"),
    ("SK", "slovakia slowakei"),
    ("US", "usa"),
    ("CA", "canada kanada"),
    ("IN", "india indien"),
    ("SG", "singapore singapur"),
    ("AU", "australia australien"),
    ("IL", "israel"),
)
# First words of vendors whose name on statements says no country, and where they bill European companies from.
VENDOR_COUNTRIES = index_countries(
    ("DE", "hetzner ionos netcup strato datev personio sevdesk lexoffice haufe"),
    ("IE", "facebk facebook meta google linkedin microsoft indeed"),
)


def find_zone_country(time_zone: str) -> str | None:
    """Return the country of a time zone; None for UTC and zones outside of the table.

    >>> find_zone_country("Europe/Berlin"), find_zone_country("UTC")
    ('DE', None)
    """
    return COUNTRY_BY_TIME_ZONE.get(time_zone)


def list_zone_taxes() -> dict[str, Decimal]:
    """Return the standard VAT rates by time zone."""
    return {zone: tax.percent for tax in COUNTRY_TAXES.values() for zone in tax.time_zones}


def find_zone_tax_percent(time_zone: str) -> Decimal | None:
    """Return the standard VAT rate of a time zone's country; None if the country is not known.

    >>> find_zone_tax_percent("Europe/Helsinki")
    Decimal('25.5')
    """
    country = find_zone_country(time_zone)
    return COUNTRY_TAXES[country].percent if country else None


def find_company_countries(name: str, time_zone: str) -> Countries:
    """Return the country of a company's time zone, else those that have its legal form; empty if neither says one.

    >>> sorted(find_company_countries("Acme GmbH", "UTC")), sorted(find_company_countries("Acme GmbH", "Europe/Vienna"))
    (['AT', 'CH', 'DE', 'LI'], ['AT'])
    """
    country = find_zone_country(time_zone)
    return frozenset([country]) if country else find_name_countries(name)


def find_name_countries(name: str) -> Countries:
    """Return the countries that a company may be in by its legal form and country words; empty if it says none.

    >>> sorted(find_name_countries("Google Ireland Limited")), find_name_countries("Vogel Consulting")
    (['IE'], frozenset())
    """
    words = extract_kind_words(name)
    by_form = frozenset[str]().union(
        *(
            LEGAL_FORM_COUNTRIES[word]
            for position, word in enumerate(words, 1)
            if word in LEGAL_FORM_COUNTRIES and (word not in SHORT_LEGAL_FORMS or position == len(words) > 1)
        )
    )
    by_word = frozenset[str]().union(*(COUNTRY_WORDS[word] for word in words if word in COUNTRY_WORDS))
    if by_form or by_word:
        return by_form & by_word or by_form or by_word
    return VENDOR_COUNTRIES.get(words[0], frozenset()) if words else frozenset()
