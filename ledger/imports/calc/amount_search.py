"""Find the amount columns of a table: those that the balance proves, else those that headings name."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice

from ledger.imports.calc.amounts import DecimalMark, is_amount_text
from ledger.imports.calc.balance_proof import (
    BalanceProof,
    Reading,
    find_best_reading,
    join_debit_and_credit,
    read_amounts,
    subtract_fees,
    to_decimals,
)
from ledger.imports.calc.balance_steps import Amounts
from ledger.imports.calc.column_mapping import AMOUNT_FIELDS
from ledger.imports.calc.columns import Column, is_date_like_cell
from ledger.imports.calc.decimal_marks import (
    drop_unstorable_marks,
    find_decimal_marks_of_columns,
    fits_decimal_mark,
    has_decimal_mark,
    has_excess_decimals,
)
from ledger.imports.calc.detection_result import Answer, FileFault, build_mapping_update
from ledger.imports.calc.pair_search import Pair, PairSearch
from ledger.imports.calc.table import SAMPLE_ROWS

MIN_STEPS = 2  # of a balance across accounts, to tell that it is one
MAX_TRIED = 8  # columns that are held against a balance; a table with more numbers is not a bank's
MAX_READINGS = 40  # of these columns, alone, in pairs and less fees, that are held against one balance


class AmountSearch(PairSearch):
    """The steps that find the amount columns, their decimal mark and the balance."""

    def choose_decimal_mark(self) -> None:
        columns = self.list_money_columns()
        decimals = self.count_possible_decimals(columns)
        given = self.given_settings.get("decimalMark")
        if (
            given
            and self.is_setting_kept("decimalMark")
            and not fits_decimal_mark(columns, DecimalMark(given), decimals)
        ):
            self.drop_kept_setting("decimalMark")
            given = None
        self.decimal_marks = (
            [DecimalMark(given)]
            if given
            else drop_unstorable_marks(find_decimal_marks_of_columns(self.columns), columns, decimals)
        )
        self.mapping = replace(self.mapping, decimal_mark=self.decimal_marks[0])

    def add_decimal_mark_question(self) -> None:
        """Ask for the decimal mark if three digits after each mark of the amount columns may be thousands."""
        if len(self.decimal_marks) < 2 or "decimal_mark" in self.result.proven_fields:
            return
        self.refuse_mixed_marks()
        if self.result.fault:
            return
        positions = [self.mapping.columns[name] for name in (*AMOUNT_FIELDS, "fee") if name in self.mapping.columns]
        columns = [self.columns[position] for position in positions]
        texts = [text for column in columns for text in column.distinct]
        self.decimal_marks = drop_unstorable_marks(self.decimal_marks, columns, self.count_possible_decimals(columns))
        if len(self.decimal_marks) == 1:
            self.mapping = replace(self.mapping, decimal_mark=self.decimal_marks[0])
        elif any(map(has_decimal_mark, texts)):
            options: list[Answer] = [
                (str(mark), build_mapping_update(decimal_mark=mark)) for mark in self.decimal_marks
            ]
            self.add_question("decimal_mark", "decimalMark", options)

    def refuse_mixed_marks(self) -> None:
        """Amounts with a point beside others with a comma are none of one file: no answer would read them all."""
        first: dict[DecimalMark, tuple[int, str]] = {}
        positions = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        for line in self.table.rows[:SAMPLE_ROWS]:
            cells = line.cells
            for text in (cells[position] for position in positions if position < len(cells)):
                marks = [mark for mark in DecimalMark if is_amount_text(text, mark)] if has_decimal_mark(text) else []
                if len(marks) == 1 and any(map(is_date_like_cell, cells)):
                    first.setdefault(marks[0], (line.number, text))
        if len(first) > 1:
            (line_number, text), (other_line, other) = sorted(first.values())
            self.result.fault = FileFault(
                "decimal_marks_mixed",
                "Line {line} has “{text}” and line {other_line} has “{other}”. Use one decimal mark for all amounts.",
                {"line": str(line_number), "text": text[:40], "other_line": str(other_line), "other": other[:40]},
            )

    def choose_balance_and_amounts(self) -> None:
        balances, balances_before = self.list_balance_columns("balance"), self.list_balance_columns("balanceBefore")
        if self.has_given_amount:
            self.complete_debit_credit_pair()
            if not self.replace_kept_amounts(balances, balances_before):
                self.check_given_amounts(balances, balances_before)
            self.add_decimal_mark_question()
            return
        marks = self.decimal_marks
        for decimal_mark in marks:
            self.mapping = replace(self.mapping, decimal_mark=decimal_mark)
            self.drop_account_column_of_one_balance(balances, decimal_mark)
            if self.choose_amounts_by_balance(balances, balances_before, decimal_mark):
                if len(marks) > 1:
                    self.result.proven_fields.append("decimal_mark")
                return
        self.mapping = replace(self.mapping, decimal_mark=marks[0])
        self.set_balance_columns(balances, balances_before)
        self.choose_unproven_amounts()
        self.add_decimal_mark_question()

    def choose_unproven_amounts(self) -> None:
        """Choose the amount columns by their headings and cells alone."""
        if pair := self.find_debit_credit_pair_by_headings():
            self.set_debit_and_credit_columns(pair)
        elif open_pair := self.find_ambiguous_debit_credit_pair():
            self.choose_debit_and_credit(open_pair)
        else:
            self.choose_single_amount_column()

    def set_balance_columns(self, balances: list[Column], balances_before: list[Column]) -> None:
        for name, columns in (("balance", balances), ("balanceBefore", balances_before)):
            if columns and name not in self.pinned:
                self.set_column(name, columns[0].position)

    def list_balance_columns(self, name: str) -> list[Column]:
        """The column that somebody gave for balances, or those that headings name."""
        if name in self.pinned:
            position = self.pinned[name]
            return [] if position is None else [self.columns[position]]
        return self.list_role_columns(name)

    def check_given_amounts(self, balances: list[Column], balances_before: list[Column]) -> None:
        """Check the balance against the amount columns of the settings; the columns stay."""
        self.set_balance_columns(balances, balances_before)
        steps = next(self.iterate_balance_proofs(balances[:1], balances_before[:1], self.mapping.decimal_mark), None)
        if steps is None:
            return
        self.choose_fee_by_balance(steps)
        if steps.prove(self.read_sample_amounts(self.mapping)):
            self.steps = steps

    def choose_fee_by_balance(self, steps: BalanceProof) -> None:
        """Take the fee column with which given amounts agree with the balance where they alone do not."""
        amounts = self.read_sample_amounts(self.mapping)
        if "fee" in self.pinned or steps.steps.find_best_share(amounts) == 1:
            return
        for fee in self.list_role_columns("fee"):
            charged = to_decimals(fee, self.mapping.decimal_mark)
            if any(charged) and steps.steps.find_best_share(subtract_fees(amounts, charged)) == 1:
                self.set_column("fee", fee.position)
                return

    def replace_kept_amounts(self, balances: list[Column], balances_before: list[Column]) -> bool:
        """Whether the balance contradicts the kept amount columns and proves others, which are taken then."""
        names = [name for name in (*AMOUNT_FIELDS, "fee") if name in self.pinned]
        steps = next(self.iterate_balance_proofs(balances[:1], balances_before[:1], self.mapping.decimal_mark), None)
        if steps is None or not all(self.is_setting_kept(f"columns.{name}") for name in names):
            return False
        share = steps.steps.find_best_share(self.read_sample_amounts(self.mapping))
        if share == 1:
            return False
        before = self.mapping, set(self.used_positions), dict(self.pinned)
        self.used_positions -= {position for name in names if (position := self.pinned.pop(name)) is not None}
        self.mapping = replace(
            self.mapping,
            columns={name: position for name, position in self.mapping.columns.items() if name not in names},
        )
        proven = self.choose_amounts_by_balance(balances, balances_before, self.mapping.decimal_mark)
        if proven and self.steps and self.steps.steps.find_best_share(self.read_sample_amounts(self.mapping)) > share:
            return True
        self.mapping, self.used_positions, self.pinned = before
        self.steps, self.is_proven = None, False
        self.result.proven_fields = [name for name in self.result.proven_fields if name not in ("amount", "fee")]
        return False

    def iterate_balance_proofs(
        self, balances: list[Column], balances_before: list[Column], decimal_mark: DecimalMark
    ) -> Iterator[BalanceProof]:
        """The balances that amounts are held against: those before and after each row, or one column of them."""
        days, groups = self.list_sample_days(), self.find_account_columns()
        for balance in balances:
            for before in balances_before:
                if before is not balance:
                    yield BalanceProof(balance, groups, decimal_mark, days, before=before)
        for balance in balances:
            yield BalanceProof(balance, groups, decimal_mark, days)
        for before in balances_before:
            yield BalanceProof(before, groups, decimal_mark, days, is_before=True)

    def find_account_columns(self) -> list[Column]:
        """Return the columns whose values split the table into accounts with balances of their own."""
        currencies = [
            column
            for column in self.columns
            if column.is_currency and not column.is_number and column.fields and column.fields[0][0] == "currency"
        ]
        return [*self.roles.get("account", [])[:1], *currencies[:1]]

    def drop_account_column_of_one_balance(self, balances: list[Column], decimal_mark: DecimalMark) -> None:
        """Treat a column of account numbers as the other parties' if one balance runs across all its values."""
        column = next(iter(self.list_role_columns("account")), None)
        if column is None or "account" in self.pinned or len(column.values) < 2:
            return
        candidates = [
            to_decimals(column, decimal_mark)
            for column in self.list_single_amount_candidates()[:MAX_TRIED]
            if column not in balances
        ]
        if pair := self.find_debit_credit_pair_by_headings():
            candidates.append(join_debit_and_credit(*pair, decimal_mark))
        for balance in balances[:MAX_TRIED]:
            steps = BalanceProof(balance, [], decimal_mark, self.list_sample_days()).steps
            if len(balance.filled) > MIN_STEPS and any(steps.find_best_share(each) == 1 for each in candidates):
                self.roles["account"].remove(column)
                self.roles.setdefault("counterpartyAccount", []).append(column)
                return

    def choose_amounts_by_balance(
        self, balances: list[Column], balances_before: list[Column], decimal_mark: DecimalMark
    ) -> bool:
        """The amounts that most steps of a balance prove; headings decide where several do."""
        pair = self.find_debit_credit_pair_by_headings()
        is_named = bool(balances or balances_before)
        if pair and not is_named:
            return False
        proofs = []
        possible_proofs = self.iterate_balance_proofs(
            balances if is_named else self.list_unnamed_balance_columns(), balances_before, decimal_mark
        )
        for steps in islice(possible_proofs, MAX_TRIED):
            readings = islice(self.iterate_amount_readings(steps, pair, is_named=is_named), MAX_READINGS)
            best_reading = find_best_reading(steps, readings, is_named=is_named)
            if best_reading:
                proofs.append((steps, best_reading))
                if is_named:
                    break
        if not proofs:
            return False
        steps, (columns, amounts) = proofs[0]
        others = [each["amount"] for _, (each, _) in proofs if "amount" in each and each != columns]
        if "amount" in columns and others:  # each of two columns may be the balance of the other
            self.set_column("amount", columns["amount"].position)
            self.add_column_question(
                "amount_column", "amount", list({each.position: each for each in [columns["amount"], *others]}.values())
            )
            return True
        steps.prove(amounts)
        self.set_proven_amounts(steps, columns, is_sure=pair is not None)
        return True

    def iterate_amount_readings(self, steps: BalanceProof, pair: Pair | None, *, is_named: bool) -> Iterator[Reading]:
        """Yield the columns that may have the amounts, the likeliest first, each with what it says; those less fees
        last.

        Beside a balance that no heading names only columns whose headings name amounts are tried, where there are any.
        """
        readings = []
        for columns in self.iterate_amount_columns([steps.balance, steps.before], pair, is_named=is_named):
            amounts = read_amounts(columns, steps.decimal_mark)
            if any(amounts) and (len(self.decimal_marks) == 1 or self.can_store_amounts(columns.values(), amounts)):
                readings.append((columns, amounts))
                yield columns, amounts
        fees = [column for column in self.list_role_columns("fee") if column not in (steps.balance, steps.before)]
        charges = [(fee, to_decimals(fee, steps.decimal_mark)) for fee in fees[:MAX_TRIED]]
        for columns, amounts in readings:
            for fee, charged in charges:
                if fee not in columns.values() and any(charged):
                    yield {**columns, "fee": fee}, subtract_fees(amounts, charged)

    def iterate_amount_columns(
        self, balance_columns: list[Column | None], pair: Pair | None, *, is_named: bool
    ) -> Iterator[dict[str, Column]]:
        """Yield the columns by field that may have the amounts beside a balance."""
        if pair and not any(each in balance_columns for each in pair):
            yield {"debit": pair[0], "credit": pair[1]}
        named_columns = self.list_named_amount_columns()
        singles = named_columns if named_columns and not is_named else self.list_single_amount_candidates()
        yield from (
            {"amount": each} for each in islice((each for each in singles if each not in balance_columns), MAX_TRIED)
        )
        balance_positions, named_positions = collect_positions(balance_columns), collect_positions(named_columns)
        undecided_pairs = () if pair else self.iterate_undecided_debit_credit_pairs()
        open_pairs = (
            each
            for each in undecided_pairs
            if not collect_positions(each) & balance_positions
            and (is_named or not named_positions or collect_positions(each) & named_positions)
        )
        yield from ({"debit": debit, "credit": credit} for debit, credit in islice(open_pairs, MAX_TRIED))

    def can_store_amounts(self, columns: Iterable[Column], amounts: Amounts) -> bool:
        """Whether amounts have no more decimals than their currency."""
        decimals = self.count_possible_decimals(list(columns))
        return not any(has_excess_decimals(str(amount), decimals) for amount in amounts if amount)

    def list_unnamed_balance_columns(self) -> list[Column]:
        if "balance" in self.pinned:
            return []
        return [each for each in self.list_number_columns() if not each.fields][:MAX_TRIED]

    def set_proven_amounts(self, steps: BalanceProof, columns: dict[str, Column], *, is_sure: bool) -> None:
        """Take what the steps of a balance prove. ``is_sure``: whether headings say which column is money out."""
        self.steps, self.is_proven = steps, True
        if "debit" in columns and not is_sure:
            self.choose_debit_and_credit((columns["debit"], columns["credit"]), steps)
            columns = {name: column for name, column in columns.items() if name == "fee"}
        positions = {name: column.position for name, column in columns.items()}
        if steps.before is not None:
            positions |= {"balanceBefore": steps.before.position, "balance": steps.balance.position}
        else:
            is_before = steps.reading is not None and steps.reading.is_before
            positions["balanceBefore" if is_before else "balance"] = steps.balance.position
        for name, position in positions.items():
            if name not in self.pinned:
                self.set_column(name, position)
        self.result.proven_fields += ["amount", *(["fee"] if "fee" in columns else [])]

    def find_ambiguous_debit_credit_pair(self) -> Pair | None:
        """Return two columns that may be money out and money in, unless another one has the amounts by its heading, or
        alone has decimals."""
        named, numbers = collect_positions(self.list_named_amount_columns()), self.list_single_amount_candidates()
        with_decimals = collect_positions(each for each in numbers if each.has_decimals)
        for pair in self.iterate_undecided_debit_credit_pairs():
            positions = collect_positions(pair)
            if (not named or positions & named) and (not with_decimals or positions & with_decimals):
                return pair
        return None

    def list_named_amount_columns(self) -> list[Column]:
        """Return the columns whose headings name amounts, those with the plainest headings first."""
        columns = self.list_role_columns("amount") + self.list_role_columns("net") + self.list_role_columns("gross")
        return list({each.position: each for each in columns}.values())

    def list_single_amount_candidates(self) -> list[Column]:
        """Return the columns that may have the amounts, those with the plainest headings first."""
        candidates = self.list_named_amount_columns()
        unknown = [each for each in self.list_number_columns() if not each.fields and not each.is_count]
        if candidates:
            # Only the balance can decide between a repeated or unknown heading and a known one.
            return candidates + [each for each in unknown if each not in candidates]
        return (
            unknown
            or self.list_role_columns("original")
            or [each for each in self.list_number_columns() if not each.is_count]
            or self.list_number_columns()
        )

    def choose_single_amount_column(self) -> None:
        named_columns = self.list_named_amount_columns()
        candidates = named_columns or [column for column in self.list_single_amount_candidates() if column.is_number]
        if not named_columns:
            candidates = [column for column in candidates if column.has_decimals] or candidates
            one_sided = self.list_role_columns("debit") + self.list_role_columns("credit")
            if not candidates and one_sided:
                candidates = one_sided
        candidates = [
            column
            for column in candidates
            if any((amount or "0").strip("-0.") for amount in column.amounts(self.mapping.decimal_mark))
        ] or candidates
        candidates = self.drop_equal_columns(candidates)
        own_currency_columns = [column for column in candidates if self.account.currency in column.heading_currencies]
        if len(own_currency_columns) == 1 and all(column.heading_currencies for column in candidates):
            candidates = own_currency_columns
        if not candidates:
            return
        self.set_column("amount", candidates[0].position)
        if len(candidates) > 1 and "amount" not in self.pinned:
            has_net = any(column in candidates for column in self.roles.get("net", []))
            self.add_column_question("gross_or_net" if has_net else "amount_column", "amount", candidates)
            if has_net and "fee" not in self.pinned:
                self.pinned["fee"] = None  # of gross and net one has it inside

    def drop_equal_columns(self, columns: list[Column]) -> list[Column]:
        """Return the columns without those that have the same amounts as one before them."""
        column_by_amounts: dict[tuple[str | None, ...], Column] = {}
        for column in columns:
            column_by_amounts.setdefault(tuple(column.amounts(self.mapping.decimal_mark)), column)
        return list(column_by_amounts.values())


def collect_positions(columns: Iterable[Column | None]) -> set[int]:
    """Return the positions of columns."""
    return {each.position for each in columns if each is not None}
