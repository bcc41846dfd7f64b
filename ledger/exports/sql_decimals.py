"""The number of decimals of a currency as an SQL expression, so that the database can round amounts."""

from collections import defaultdict

from ledger.money.calc.money import CURRENCIES, get_minor_units


def build_decimals_sql(column: str) -> str:
    """Return an SQL expression for the decimals of the currency in `column`."""
    groups: dict[int, list[str]] = defaultdict(list)
    for currency in CURRENCIES:
        groups[get_minor_units(currency)].append(f"'{currency}'")
    cases = " ".join(f"WHEN {column} IN ({', '.join(names)}) THEN {units}" for units, names in groups.items())
    return f"CASE {cases} END"
