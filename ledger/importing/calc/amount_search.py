"""Which columns have the amounts: those that the balance proves, else those that headings name."""

from collections.abc import Iterator
from dataclasses import replace

from ledger.importing.calc.amounts import DecimalMark, is_amount
from ledger.importing.calc.balances import AGREED, Amounts
from ledger.importing.calc.columns import Column, are_complements, find_table_marks, is_date_written, is_marked
from ledger.importing.calc.mapping import AMOUNT_FIELDS
from ledger.importing.calc.proofs import Steps, decimals, join_pair, with_fee
from ledger.importing.calc.questions import Answer, FileFault, changed
from ledger.importing.calc.search import Search
from ledger.importing.calc.table import SAMPLE

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
        self.refuse_mixed_marks()
        if self.result.refused:
            return
        places = [self.mapping.columns[name] for name in (*AMOUNT_FIELDS, "fee") if name in self.mapping.columns]
        texts = [text for place in places for text in self.columns[place].distinct]
        if any(map(is_marked, texts)):
            options: list[Answer] = [(str(mark), changed(decimal_mark=mark)) for mark in self.marks]
            self.ask("decimal_mark", "decimalMark", options)

    def refuse_mixed_marks(self) -> None:
        """Amounts with a point beside others with a comma are none of one file: no answer would read them all."""
        first: dict[DecimalMark, tuple[int, str]] = {}
        places = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        for line in self.table.rows[:SAMPLE]:
            cells = line.cells
            for text in (cells[place] for place in places if place < len(cells)):
                marks = [mark for mark in DecimalMark if is_amount(text, mark)] if is_marked(text) else []
                if len(marks) == 1 and any(map(is_date_written, cells)):
                    first.setdefault(marks[0], (line.number, text))
        if len(first) > 1:
            (line_number, text), (other_line, other) = sorted(first.values())
            self.result.refused = FileFault(
                "decimal_marks_mixed",
                "Line {line} has “{text}” and line {other_line} “{other}”: write all amounts with one decimal mark.",
                {"line": str(line_number), "text": text[:40], "other_line": str(other_line), "other": other[:40]},
            )

    def numbers(self) -> list[Column]:
        return [each for each in self.free(self.columns) if each.is_number]

    def choose_balance_and_amounts(self) -> None:
        balances, balances_before = self.balance_columns("balance"), self.balance_columns("balanceBefore")
        if self.has_given_amount:
            self.prove_given(balances, balances_before)
            self.ask_mark()
            return
        marks = getattr(self, "marks", [self.mapping.decimal_mark])
        for mark in marks:
            self.mapping = replace(self.mapping, decimal_mark=mark)
            self.drop_account_column(balances, mark)
            if self.prove_any(balances, balances_before, mark):
                if len(marks) > 1:
                    self.result.proven.append("decimal_mark")
                return
        self.mapping = replace(self.mapping, decimal_mark=marks[0])
        for name, columns in (("balance", balances), ("balanceBefore", balances_before)):
            if columns and name not in self.pinned:
                self.put(name, columns[0].place)
        if pair := self.named_pair():
            self.put("debit", pair[0].place)
            self.put("credit", pair[1].place)
        else:
            self.choose_single()
        self.ask_mark()

    def balance_columns(self, name: str) -> list[Column]:
        """The column that somebody gave for balances, or those that headings name."""
        if name in self.pinned:
            place = self.pinned[name]
            return [] if place is None else [self.columns[place]]
        return self.role(name)

    def prove_given(self, balances: list[Column], balances_before: list[Column]) -> None:
        """Whether the balance agrees with the columns that somebody gave; it changes none of them."""
        for name, columns in (("balance", balances), ("balanceBefore", balances_before)):
            if columns and name not in self.pinned:
                self.put(name, columns[0].place)
        steps = next(self.list_steps(balances[:1], balances_before[:1], self.mapping.decimal_mark), None)
        if steps is not None and steps.prove(self.read_sample(self.mapping)):
            self.steps = steps

    def list_steps(self, balances: list[Column], balances_before: list[Column], mark: DecimalMark) -> Iterator[Steps]:
        """The balances that amounts are held against: those before and after each row, or one column of them."""
        days, groups = self.find_days(), self.groups()
        for balance in balances:
            for before in balances_before:
                if before is not balance:
                    yield Steps(balance, groups, mark, days, before=before)
        for balance in balances:
            yield Steps(balance, groups, mark, days)
        for before in balances_before:
            yield Steps(before, groups, mark, days, is_before=True)

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
            steps = Steps(balance, [], mark, self.find_days()).steps
            if len(balance.filled) > MIN_STEPS and any(steps.best_share(each) == 1 for each in candidates):
                self.roles["account"].remove(column)
                self.roles.setdefault("counterpartyAccount", []).append(column)
                return

    def prove_any(self, balances: list[Column], balances_before: list[Column], mark: DecimalMark) -> bool:
        """The amounts that most steps of a balance prove; headings decide where several do."""
        pair = self.named_pair()
        is_named = bool(balances or balances_before)
        if pair and not is_named:
            return False
        for steps in self.list_steps(balances if is_named else self.unnamed_balances(), balances_before, mark):
            readings = self.list_amounts(steps, pair)
            shares = [steps.steps.best_share(amounts) for _, amounts in readings]
            best = max(shares, default=0.0)
            if best >= AGREED:
                columns, amounts = readings[shares.index(best)]
                steps.prove(amounts)
                self.accept(steps, columns)
                return True
        return False

    def list_amounts(self, steps: Steps, pair: tuple[Column, Column] | None) -> list[tuple[dict[str, Column], Amounts]]:
        """The columns that may have the amounts, the likeliest first, each with what it says; those less fees last."""
        taken = [steps.balance, steps.before]
        found: list[tuple[dict[str, Column], Amounts]] = []
        if pair and not any(each in taken for each in pair):
            found.append(({"debit": pair[0], "credit": pair[1]}, join_pair(*pair, steps.mark)))
        singles = [each for each in self.single_candidates() if each not in taken][:MAX_TRIED]
        found += [({"amount": each}, decimals(each, steps.mark)) for each in singles]
        found = [(columns, amounts) for columns, amounts in found if any(amounts)]
        fees = [(each, decimals(each, steps.mark)) for each in self.role("fee") if each not in taken]
        return found + [
            ({**columns, "fee": fee}, with_fee(amounts, charged))
            for columns, amounts in found
            for fee, charged in fees
            if fee not in columns.values() and any(charged)
        ]

    def unnamed_balances(self) -> list[Column]:
        if "balance" in self.pinned:
            return []
        return [each for each in self.numbers() if not each.fields][:MAX_TRIED]

    def accept(self, steps: Steps, columns: dict[str, Column]) -> None:
        """Take what the steps of a balance prove."""
        self.steps, self.is_proven = steps, True
        found = {name: column.place for name, column in columns.items()}
        if steps.before is not None:
            found |= {"balanceBefore": steps.before.place, "balance": steps.balance.place}
        else:
            is_before = steps.reading is not None and steps.reading.is_before
            found["balanceBefore" if is_before else "balance"] = steps.balance.place
        for name, place in found.items():
            if name not in self.pinned:
                self.put(name, place)
        self.result.proven += ["amount", *(["fee"] if "fee" in columns else [])]

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
        own = [each for each in found if self.own.currency in each.heading_currencies]
        if len(own) == 1 and all(each.heading_currencies for each in found):
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
