"""Which columns have the amounts: those that the balance proves, else those that headings name."""

from dataclasses import replace

from ledger.importing.calc.amounts import DecimalMark
from ledger.importing.calc.columns import Column, are_complements, find_table_marks, is_marked
from ledger.importing.calc.mapping import AMOUNT_FIELDS
from ledger.importing.calc.proofs import Steps, decimals, join_pair, prove_fee, prove_pair, prove_single
from ledger.importing.calc.questions import Answer, changed
from ledger.importing.calc.search import Search

MIN_STEPS = 2  # of a balance across accounts, to tell that it is one
MAX_TRIED = 8  # columns that are held against a balance; a table with more numbers is not a bank's


class AmountSearch(Search):
    """The steps that choose amounts, their decimal mark and the balance."""

    def choose_marks(self) -> None:
        if "decimalMark" in self.given:
            self.mapping = replace(self.mapping, decimal_mark=DecimalMark(self.given["decimalMark"]))
            return
        marks = find_table_marks(self.columns)
        self.marks = marks
        self.mapping = replace(self.mapping, decimal_mark=marks[0])

    def ask_mark(self) -> None:
        """Three digits behind each mark may be thousands; asked where the chosen columns have such."""
        if "decimalMark" in self.given or len(self.marks) < 2 or "decimal_mark" in self.result.proven:
            return
        places = [self.mapping.columns[name] for name in (*AMOUNT_FIELDS, "fee") if name in self.mapping.columns]
        texts = [text for place in places for text in self.columns[place].distinct]
        if any(map(is_marked, texts)):
            options: list[Answer] = [(str(mark), changed(decimal_mark=mark)) for mark in self.marks]
            self.ask("decimal_mark", "decimalMark", options)

    def numbers(self) -> list[Column]:
        return [each for each in self.free(self.columns) if each.is_number]

    def choose_balance_and_amounts(self) -> None:
        named = self.role("balance")
        if self.pinned.get("balance") is not None:
            balances = [self.columns[self.pinned["balance"]]]  # type: ignore[index]
        else:
            balances = [] if "balance" in self.pinned else named
        if self.has_given_amount:
            self.prove_given(balances)
            self.ask_mark()
            return
        marks = getattr(self, "marks", [self.mapping.decimal_mark])
        for mark in marks:
            self.mapping = replace(self.mapping, decimal_mark=mark)
            self.drop_account_column(balances, mark)
            if self.prove_any(balances, mark):
                if len(marks) > 1:
                    self.result.proven.append("decimal_mark")
                return
        self.mapping = replace(self.mapping, decimal_mark=marks[0])
        if named and "balance" not in self.pinned:
            self.put("balance", named[0].place)
        if pair := self.named_pair():
            self.put("debit", pair[0].place)
            self.put("credit", pair[1].place)
        else:
            self.choose_single()
        self.ask_mark()

    def prove_given(self, balances: list[Column]) -> None:
        """Whether the balance agrees with the columns that somebody gave; it changes none of them."""
        if not balances:
            return
        self.put("balance", balances[0].place)
        self.steps = Steps(balances[0], self.groups(), self.mapping.decimal_mark)

    def groups(self) -> list[Column]:
        """Columns whose values part a table into accounts, each with balances of its own."""
        currencies = [
            each
            for each in self.columns
            if each.is_currency and not each.is_number and each.fields and each.fields[0][0] == "currency"
        ]
        return [*self.roles.get("account", [])[:1], *currencies[:1]]

    def drop_account_column(self, balances: list[Column], mark: DecimalMark) -> None:
        """Take a column of account numbers for the other parties' where one balance runs across all of them."""
        column = next(iter(self.role("account")), None)
        if column is None or "account" in self.pinned or len(column.values) < 2:
            return
        candidates = [decimals(each, mark) for each in self.single_candidates()[:MAX_TRIED] if each not in balances]
        if pair := self.named_pair():
            candidates.append(join_pair(*pair, mark))
        for balance in balances:
            steps = Steps(balance, [], mark)
            if len(balance.filled) > MIN_STEPS and any(max(steps.shares(each).values()) == 1 for each in candidates):
                self.roles["account"].remove(column)
                self.roles.setdefault("counterpartyAccount", []).append(column)
                return

    def prove_any(self, balances: list[Column], mark: DecimalMark) -> bool:
        """The amounts that the steps of a balance prove; headings decide where several do."""
        for balance in balances or self.unnamed_balances():
            steps = Steps(balance, self.groups(), mark)
            fees = [each for each in self.role("fee") if each is not balance]
            pair = self.named_pair()
            if pair and balance not in pair and prove_pair(steps, *pair):
                self.accept(balance, steps)
                self.put("debit", pair[0].place)
                self.put("credit", pair[1].place)
                return True
            if not balances and pair:
                continue
            if self.prove_one(balance, steps, fees):
                return True
        return False

    def prove_one(self, balance: Column, steps: Steps, fees: list[Column]) -> bool:
        """The one column of amounts that the steps prove, by itself or less the fees beside it."""
        singles = [each for each in self.single_candidates() if each is not balance][:MAX_TRIED]
        single = next((each for each in singles if prove_single(steps, each)), None)
        if single is not None:
            self.accept(balance, steps)
            self.put("amount", single.place)
            return True
        pairs = [(each, fee) for each in singles for fee in fees if each is not fee]
        found = next((pair for pair in pairs if prove_fee(steps, *pair)), None)
        if found is None:
            return False
        self.accept(balance, steps)
        self.put("amount", found[0].place)
        if "fee" not in self.pinned:
            self.put("fee", found[1].place)
        self.result.proven.append("fee")
        return True

    def unnamed_balances(self) -> list[Column]:
        if "balance" in self.pinned:
            return []
        return [each for each in self.numbers() if not each.fields][:MAX_TRIED]

    def accept(self, balance: Column, steps: Steps) -> None:
        self.steps, self.is_proven = steps, True
        if "balance" not in self.pinned:
            self.put("balance", balance.place)
        self.result.proven += ["amount"]

    def named_pair(self) -> tuple[Column, Column] | None:
        """The columns of debit and credit; the fellow of one is that which is filled where it is not."""
        debit, credit = self.role("debit"), self.role("credit")
        for out in debit:
            for came in credit:
                if are_complements(out, came, enough=0.5):
                    return out, came
        numbers = [each for each in self.numbers() if not each.fields or each.fields[0][0] in ("amount", "number")]
        for known, is_debit in [(each, True) for each in debit] + [(each, False) for each in credit]:
            for other in numbers:
                if other is not known and are_complements(known, other) and len(other.filled) < len(other.cells):
                    return (known, other) if is_debit else (other, known)
        return None

    def single_candidates(self) -> list[Column]:
        """Columns that may have the amounts, those with the plainest headings first."""
        found = self.role("amount") + self.role("net") + self.role("gross")
        found = list({each.place: each for each in found}.values())
        unknown = [each for each in self.numbers() if not each.fields and not each.is_count]
        if found:
            # Of a repeated or unknown heading beside a known one only the balance can tell.
            return found + [each for each in unknown if each not in found]
        return (
            unknown or self.role("original") or [each for each in self.numbers() if not each.is_count] or self.numbers()
        )

    def choose_single(self) -> None:
        named = self.role("amount") + self.role("net") + self.role("gross")
        named = list({each.place: each for each in named}.values())
        found = named or [each for each in self.single_candidates() if each.is_number]
        if not named:
            found = [each for each in found if each.has_decimals] or found
            one_sided = self.role("debit") + self.role("credit")
            if not found and one_sided:
                found = one_sided
        found = [
            each
            for each in found
            if any((amount or "0").strip("-0.") for amount in each.amounts(self.mapping.decimal_mark))
        ] or found
        found = self.without_equal(found)
        own = [each for each in found if each.heading_currency == self.own.currency and each.heading_currency]
        if len(own) == 1 and all(each.heading_currency or each.place == own[0].place for each in found):
            found = own
        if not found:
            return
        self.put("amount", found[0].place)
        if len(found) > 1 and "amount" not in self.pinned:
            has_net = any(each in found for each in self.roles.get("net", []))
            self.ask_column("gross_or_net" if has_net else "amount_column", "amount", found)
            if has_net and "fee" not in self.pinned:
                self.pinned["fee"] = None  # of gross and net one has it inside

    def without_equal(self, columns: list[Column]) -> list[Column]:
        """Columns that say the same as one before them in every row are no other reading."""
        found: list[Column] = []
        for column in columns:
            amounts = column.amounts(self.mapping.decimal_mark)
            if not any(amounts == each.amounts(self.mapping.decimal_mark) for each in found):
                found.append(column)
        return found
