"""Which amounts are money out, and whether fees are inside them."""

from dataclasses import replace

from ledger.importing.calc.amounts import has_sign
from ledger.importing.calc.columns import Column
from ledger.importing.calc.currency_search import CurrencySearch
from ledger.importing.calc.proofs import prove_pair
from ledger.importing.calc.questions import Answer, changed
from ledger.importing.calc.vocabulary import find_direction, is_direction_column

CARD_WORDS = ("card", "karte", "carte", "tarjeta", "carta", "cartão", "karta", "kort", "カード", "信用卡")
CARD_HEADINGS = (
    "card holder", "cardholder", "card member", "cardmember", "card no", "card number", "card account", "karteninhaber",
    "kartennummer", "kreditkarte", "titulaire de la carte", "titular de la tarjeta", "ご利用者", "持卡人",
)  # fmt: skip


class SignSearch(CurrencySearch):
    """The steps that choose directions, signs and fees."""

    def choose_direction_and_sign(self) -> None:
        place = self.mapping.columns.get("amount")
        if place is None:
            if (
                "flipSign" not in self.given
                and self.is_proven
                and self.steps is not None
                and self.own.is_card is False
                and (pair := self.given_pair())
                and prove_pair(self.steps, *pair) == "sign"
            ):
                self.result.proven.append("sign")
            return
        column = self.columns[place]
        signed = any(has_sign(text) for text in column.distinct)
        all_minus = signed and all(text.startswith("-") or not text.strip("0.,") for text in column.distinct)
        if not signed or (all_minus and self.role("direction")):
            self.choose_direction(column)
            if "direction" in self.mapping.columns:
                return
        self.choose_sign(column, signed=signed)

    def given_pair(self) -> tuple[Column, Column] | None:
        debit, credit = (self.mapping.columns.get(name) for name in ("debit", "credit"))
        return None if debit is None or credit is None else (self.columns[debit], self.columns[credit])

    def choose_direction(self, amount: Column) -> None:
        if "direction" in self.pinned:
            if self.pinned["direction"] is None:
                return
            column = self.columns[self.pinned["direction"]]
        else:
            named = [each for each in self.role("direction") if len(each.filled) >= len(amount.filled)]
            unnamed = [each for each in self.free(self.columns) if each.is_words and is_direction_column(each.values)]
            signs = [
                each for each in self.free(self.columns) if set(each.distinct) and set(each.distinct) <= {"+", "-"}
            ]
            found = named or unnamed or signs
            if not found:
                return
            column = found[0]
            self.put("direction", column.place)
        values = self.all_values(column.place)
        known = dict(self.mapping.directions)
        if self.steps is not None and (shown := self.steps.directions(amount, column)) and "flipSign" not in self.given:
            known = {**shown, **known}
            self.result.proven.append("direction")
        known |= {value: kind for value in values if value not in known and (kind := find_direction(value))}
        self.mapping = replace(self.mapping, directions=known)
        unknown = [value for value in values if value not in known]
        if unknown:
            self.ask_directions(unknown, known)

    def ask_directions(self, unknown: list[str], known: dict[str, str]) -> None:
        ways = [dict.fromkeys(unknown, "out"), dict.fromkeys(unknown, "in")]
        if len(unknown) == 2:
            first, second = unknown
            ways = [{first: "out", second: "in"}, {first: "in", second: "out"}, *ways]
        options: list[Answer] = []
        for way in ways:
            whole = {**known, **way}
            value = {kind: [text for text, each in whole.items() if each == kind] for kind in ("in", "out")}
            options.append((value, changed(directions=whole)))
        self.ask("direction_values", "directionValues", options)

    def choose_sign(self, column: Column, *, signed: bool) -> None:
        if "flipSign" in self.given or self.has_given_amount:
            return
        sign = self.steps.sign_of(column, self.mapping, self.columns) if self.steps is not None else None
        turned = replace(self.mapping, flip_sign=True)
        if sign == "same" and not (self.own.is_card and self.looks_owed(column)):
            self.result.proven.append("sign")
            return
        if sign == "turned" and not self.own.is_card and not self.is_card_file:
            self.mapping = turned
            self.result.proven.append("sign")
            return
        if sign == "mixed":
            self.mapping = replace(self.mapping, sign_from_balance=True)
            self.result.proven.append("sign")
            return
        as_card = self.own.is_card or self.is_card_file
        if not signed or sign is not None or (as_card and self.looks_owed(column)):
            self.ask("sign", "flipSign", [(False, changed(flip_sign=False)), (True, changed(flip_sign=True))])

    def looks_owed(self, column: Column) -> bool:
        """Whether most amounts are positive, as charges of cards are written."""
        amounts = [amount for amount in column.amounts(self.mapping.decimal_mark) if amount and amount.strip("-0.")]
        return sum(not amount.startswith("-") for amount in amounts) * 2 >= len(amounts)

    @property
    def is_card_file(self) -> bool:
        above = " ".join(cell for line in self.table.above[-5:] for cell in line.cells).casefold()
        headings = " ".join(self.table.names).casefold()
        return any(word in above for word in CARD_WORDS) or any(word in headings for word in CARD_HEADINGS)

    def choose_fee(self) -> None:
        if "fee" in self.pinned or "fee" in self.result.proven or "amount" not in self.mapping.columns:
            return
        fees = [
            each
            for each in self.role("fee")
            if self.is_in_own_currency(each)
            and any((amount or "0").strip("-0.") for amount in each.amounts(self.mapping.decimal_mark))
        ]
        if not fees or self.is_proven or self.is_asked("columns.amount"):
            return
        fee = fees[0]
        amount = self.columns[self.mapping.columns["amount"]]
        if (
            amount in self.roles.get("net", [])
            and amount not in self.roles.get("amount", [])[:0]
            and self.gross_beside(amount)
        ):
            return
        self.ask_column("fee", "fee", [fee], none=True)

    def is_in_own_currency(self, fee: Column) -> bool:
        """Whether a fee can be taken off the amounts, as far as headings tell."""
        currency = self.mapping.currency or self.own.currency
        return not fee.heading_currencies or currency in fee.heading_currencies

    def gross_beside(self, net: Column) -> bool:
        """Whether another column has the amount before fees, so that this one has them inside."""
        return any(each is not net for each in self.roles.get("gross", []) + self.roles.get("amount", []))
