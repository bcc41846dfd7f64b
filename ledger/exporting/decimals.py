"""How many decimals an amount has, said in SQL: a database that rounds writes what Python need not."""

from collections import defaultdict

from ledger.calc.money import CURRENCIES, minor_units


def decimals_of(column: str) -> str:
    """An expression for the decimals of the currency in ``column``, from the one table of them."""
    groups: dict[int, list[str]] = defaultdict(list)
    for currency in CURRENCIES:
        groups[minor_units(currency)].append(f"'{currency}'")
    cases = " ".join(f"WHEN {column} IN ({', '.join(names)}) THEN {units}" for units, names in groups.items())
    return f"CASE {cases} END"
