"""Find the amount columns of a table: those that the balance proves, else those that headings name."""

from collections.abc import Iterator
from dataclasses import replace

from ledger.imports.calc.amounts import DecimalMark, is_amount_text
from ledger.imports.calc.balance_proof import BalanceProof, join_debit_and_credit, subtract_fees, to_decimals
from ledger.imports.calc.balances import AGREED, Amounts
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS
from ledger.imports.calc.columns import (
    Column,
    find_table_marks,
    has_complementary_amounts,
    is_date_like_cell,
    is_marked,
)
from ledger.imports.calc.detection_result import Answer, FileFault, build_mapping_update
from ledger.imports.calc.mapping_search import MappingSearch
from ledger.imports.calc.table import SAMPLE_ROWS

MIN_STEPS = 2  # of a balance across accounts, to tell that it is one
MAX_TRIED = 8  # columns that are held against a balance; a table with more numbers is not a bank's


class AmountSearch(MappingSearch):
    """The steps that find the amount columns, their decimal mark and the balance."""

    def choose_marks(self) -> None:
        if "decimalMark" in self.given:
            self.mapping = replace(self.mapping, decimal_mark=DecimalMark(self.given["decimalMark"]))
            return
        marks = find_table_marks(self.columns)
        self.marks = marks
        self.mapping = replace(self.mapping, decimal_mark=marks[0])

    def ask_mark(self) -> None:
        """Ask for the decimal mark if three digits after each mark of the amount columns may be thousands."""
        if "decimalMark" in self.given or len(self.marks) < 2 or "decimal_mark" in self.result.proven:
            return
        self.refuse_mixed_marks()
        if self.result.refused:
            return
        positions = [self.mapping.columns[name] for name in (*AMOUNT_FIELDS, "fee") if name in self.mapping.columns]
        texts = [text for position in positions for text in self.columns[position].distinct]
        if any(map(is_marked, texts)):
            options: list[Answer] = [(str(mark), build_mapping_update(decimal_mark=mark)) for mark in self.marks]
            self.ask("decimal_mark", "decimalMark", options)

    def refuse_mixed_marks(self) -> None:
        """Amounts with a point beside others with a comma are none of one file: no answer would read them all."""
        first: dict[DecimalMark, tuple[int, str]] = {}
        places = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        for line in self.table.rows[:SAMPLE_ROWS]:
            cells = line.cells
            for text in (cells[place] for place in places if place < len(cells)):
                marks = [mark for mark in DecimalMark if is_amount_text(text, mark)] if is_marked(text) else []
                if len(marks) == 1 and any(map(is_date_like_cell, cells)):
                    first.setdefault(marks[0], (line.number, text))
        if len(first) > 1:
            (line_number, text), (other_line, other) = sorted(first.values())
            self.result.refused = FileFault(
                "decimal_marks_mixed",
                "Line {line} has “{text}” and line {other_line} has “{other}”. Use one decimal mark for all amounts.",
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
        """Check the balance against the amount columns of the settings; the columns stay."""
        for name, columns in (("balance", balances), ("balanceBefore", balances_before)):
            if columns and name not in self.pinned:
                self.put(name, columns[0].place)
        steps = next(self.list_steps(balances[:1], balances_before[:1], self.mapping.decimal_mark), None)
        if steps is not None and steps.prove(self.read_sample(self.mapping)):
            self.steps = steps

    def list_steps(
        self, balances: list[Column], balances_before: list[Column], mark: DecimalMark
    ) -> Iterator[BalanceProof]:
        """The balances that amounts are held against: those before and after each row, or one column of them."""
        days, groups = self.find_days(), self.groups()
        for balance in balances:
            for before in balances_before:
                if before is not balance:
                    yield BalanceProof(balance, groups, mark, days, before=before)
        for balance in balances:
            yield BalanceProof(balance, groups, mark, days)
        for before in balances_before:
            yield BalanceProof(before, groups, mark, days, is_before=True)

    def groups(self) -> list[Column]:
        """Return the columns whose values split the table into accounts with balances of their own."""
        currencies = [
            column
            for column in self.columns
            if column.is_currency and not column.is_number and column.fields and column.fields[0][0] == "currency"
        ]
        return [*self.roles.get("account", [])[:1], *currencies[:1]]

    def drop_account_column(self, balances: list[Column], mark: DecimalMark) -> None:
        """Treat a column of account numbers as the other parties' if one balance runs across all its values."""
        column = next(iter(self.role("account")), None)
        if column is None or "account" in self.pinned or len(column.values) < 2:
            return
        candidates = [to_decimals(each, mark) for each in self.single_candidates()[:MAX_TRIED] if each not in balances]
        if pair := self.named_pair():
            candidates.append(join_debit_and_credit(*pair, mark))
        for balance in balances:
            steps = BalanceProof(balance, [], mark, self.find_days()).steps
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

    def list_amounts(
        self, steps: BalanceProof, pair: tuple[Column, Column] | None
    ) -> list[tuple[dict[str, Column], Amounts]]:
        """The columns that may have the amounts, the likeliest first, each with what it says; those less fees last."""
        taken = [steps.balance, steps.before]
        found: list[tuple[dict[str, Column], Amounts]] = []
        if pair and not any(each in taken for each in pair):
            found.append(({"debit": pair[0], "credit": pair[1]}, join_debit_and_credit(*pair, steps.mark)))
        singles = [each for each in self.single_candidates() if each not in taken][:MAX_TRIED]
        found += [({"amount": each}, to_decimals(each, steps.mark)) for each in singles]
        found = [(columns, amounts) for columns, amounts in found if any(amounts)]
        fees = [(each, to_decimals(each, steps.mark)) for each in self.role("fee") if each not in taken]
        return found + [
            ({**columns, "fee": fee}, subtract_fees(amounts, charged))
            for columns, amounts in found
            for fee, charged in fees
            if fee not in columns.values() and any(charged)
        ]

    def unnamed_balances(self) -> list[Column]:
        if "balance" in self.pinned:
            return []
        return [each for each in self.numbers() if not each.fields][:MAX_TRIED]

    def accept(self, steps: BalanceProof, columns: dict[str, Column]) -> None:
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
        """Return the columns of debit and credit; the other one of a pair has amounts where the first has none."""
        debit, credit = self.role("debit"), self.role("credit")
        for debit_column in debit:
            for credit_column in credit:
                if has_complementary_amounts(debit_column, credit_column, min_share=0.5):
                    return debit_column, credit_column
        numbers = [each for each in self.numbers() if not each.fields or each.fields[0][0] in ("amount", "number")]
        for known_column, is_debit in [(each, True) for each in debit] + [(each, False) for each in credit]:
            for other_column in numbers:
                if (
                    other_column is not known_column
                    and has_complementary_amounts(known_column, other_column)
                    and len(other_column.filled) < len(other_column.cells)
                ):
                    return (known_column, other_column) if is_debit else (other_column, known_column)
        return None

    def single_candidates(self) -> list[Column]:
        """Return the columns that may have the amounts, those with the plainest headings first."""
        candidates = self.role("amount") + self.role("net") + self.role("gross")
        candidates = list({each.place: each for each in candidates}.values())
        unknown = [each for each in self.numbers() if not each.fields and not each.is_count]
        if candidates:
            # Only the balance can decide between a repeated or unknown heading and a known one.
            return candidates + [each for each in unknown if each not in candidates]
        return (
            unknown or self.role("original") or [each for each in self.numbers() if not each.is_count] or self.numbers()
        )

    def choose_single(self) -> None:
        named_columns = self.role("amount") + self.role("net") + self.role("gross")
        named_columns = list({column.place: column for column in named_columns}.values())
        candidates = named_columns or [column for column in self.single_candidates() if column.is_number]
        if not named_columns:
            candidates = [column for column in candidates if column.has_decimals] or candidates
            one_sided = self.role("debit") + self.role("credit")
            if not candidates and one_sided:
                candidates = one_sided
        candidates = [
            column
            for column in candidates
            if any((amount or "0").strip("-0.") for amount in column.amounts(self.mapping.decimal_mark))
        ] or candidates
        candidates = self.without_equal(candidates)
        own_currency_columns = [column for column in candidates if self.own.currency in column.heading_currencies]
        if len(own_currency_columns) == 1 and all(column.heading_currencies for column in candidates):
            candidates = own_currency_columns
        if not candidates:
            return
        self.put("amount", candidates[0].place)
        if len(candidates) > 1 and "amount" not in self.pinned:
            has_net = any(column in candidates for column in self.roles.get("net", []))
            self.ask_column("gross_or_net" if has_net else "amount_column", "amount", candidates)
            if has_net and "fee" not in self.pinned:
                self.pinned["fee"] = None  # of gross and net one has it inside

    def without_equal(self, columns: list[Column]) -> list[Column]:
        """Return the columns without those that have the same amounts as one before them."""
        distinct_columns: list[Column] = []
        for column in columns:
            amounts = column.amounts(self.mapping.decimal_mark)
            if not any(amounts == each.amounts(self.mapping.decimal_mark) for each in distinct_columns):
                distinct_columns.append(column)
        return distinct_columns
