"""In which currency and unit the amounts are: told by a column, a sign, a heading or the lines above, else asked."""

from collections.abc import Sequence
from functools import partial

from ledger.imports.calc.amount_search import AmountSearch
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS, ColumnMapping
from ledger.imports.calc.columns import Column
from ledger.imports.calc.detection_result import Answer, build_mapping_update, combine_updates
from ledger.imports.calc.file_currency import complete_mapping, find_amount_currencies, find_unclear_currencies


class CurrencySearch(AmountSearch):
    """The steps that choose the column of currencies, and what tells the currency where there is none."""

    def choose_currency(self) -> None:
        if len(find_amount_currencies(self.table, self.mapping)) != 1:
            self.choose_currency_column()
        told = self.given.get("currency", "")
        self.mapping, refused = complete_mapping(self.table, self.mapping, own=self.own.currency, told=told)
        self.result.refused = self.result.refused or refused
        if not self.is_asked("columns.currency") and not self.is_asked("columns.amount"):
            self.ask_currency()

    def ask_currency(self) -> None:
        """Which of several currencies a sign means, where the account's is none of them."""
        if unclear := find_unclear_currencies(self.table, self.mapping, self.own.currency):
            options: list[Answer] = [(code, build_mapping_update(currency=code)) for code in unclear]
            self.ask("currency", "currency", options)

    def choose_currency_column(self) -> None:
        if "currency" in self.pinned:
            return
        named = self.role("currency")
        unnamed = [each for each in self.free(self.columns) if each.is_currency and not each.is_number]
        unnamed = [each for each in unnamed if not any(name == "original" for name, _ in each.fields)]
        found = named or unnamed
        if not found:
            return
        if self.is_asked("columns.amount") and len(found) > 1:  # each amount has the currency behind it
            self.ask_with_next_currency(found)
            return
        places = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        different = [each for each in found if each.cells != found[0].cells]
        near = [each for each in found if places and each.place == places[0] + 1]
        self.put("currency", (near[0] if different and len(near) == 1 else found[0]).place)
        if different and len(near) != 1:
            self.ask_column("currency_column", "currency", [found[0], *different])

    def ask_with_next_currency(self, found: Sequence[Column]) -> None:
        place = next(place for place, each in enumerate(self.open) if each[1] == "columns.amount")
        question, path, options = self.open[place]
        behind = partial(self.with_next_currency, found=found)
        self.open[place] = (question, path, [(value, combine_updates(change, behind)) for value, change in options])
        self.mapping = behind(self.mapping)

    def with_next_currency(self, mapping: ColumnMapping, found: Sequence[Column]) -> ColumnMapping:
        place = mapping.columns["amount"]
        behind = [each for each in found if each.place > place]
        return mapping.with_column("currency", (behind or found[-1:])[0].place)
