"""Categories of a company by the names that files have for them."""

from uuid import UUID

from ledger.imports.calc.column_mapping import fold_setting_value
from ledger.models import Category


def find_category_ids(company_id: UUID) -> dict[str, str]:
    """Return ids by folded name of the categories that one name and one P&L line say: no other takes a whole amount."""
    results: dict[str, str] = {}
    known_ids: set[str] = set()
    for category_id, name, lines in Category.objects.for_company(company_id).values_list("id", "name", "pl_types"):
        folded = fold_setting_value(name)
        if folded not in known_ids and len(lines) == 1:
            results[folded] = str(category_id)
        else:
            results.pop(folded, None)
        known_ids.add(folded)
    return results
