"""How a table is to be read, proven or asked: headings propose, cells veto, the balance column decides.

Of all readings that the cells allow, those stay under which the balances step by the amounts. Where more than one reading
is left, each is an option of a question; nothing is claimed that only one reading does not say.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from ledger.calc.tables import Line
from ledger.importing.calc.amounts import DecimalMark, has_sign
from ledger.importing.calc.columns import Column, build_columns, find_roles, find_table_marks
from ledger.importing.calc.dates import DateOrder, find_orders
from ledger.importing.calc.mapping import AMOUNT_FIELDS, Mapping, find_place, fold_value, normalize_settings
from ledger.importing.calc.proofs import Steps, prove_fee, prove_pair, prove_single
from ledger.importing.calc.table import Table, find_table
from ledger.importing.calc.vocabulary import find_direction, find_status, is_direction_column

CARD_WORDS = ("card", "karte", "carte", "tarjeta", "carta", "cartão", "karta", "kort", "カード", "信用卡")
LATE_DATES = ("started", "created", "available", "kauf", "purchase")
MAX_OPTIONS = 6


@dataclass(frozen=True, slots=True)
class Own:
    """What is known of the account that a file goes to."""

    currency: str = ""
    is_card: bool = False
    number: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """One answer to a question: the value of the settings' field, and the mapping that follows from it."""

    value: Any
    mapping: Mapping


@dataclass(frozen=True, slots=True)
class Question:
    """What only a person knows: ``field`` is the path in the settings that answers it, such as ``columns.fee``."""

    question: str
    field: str
    options: list[Option]


Answer = tuple[Any, Callable[[Mapping], Mapping]]  # the value, and what becomes of a mapping with it


def changed(**values: Any) -> Callable[[Mapping], Mapping]:
    """What sets attributes of a mapping."""
    return lambda mapping: replace(mapping, **values)


def chain(first: Callable[[Mapping], Mapping], then: Callable[[Mapping], Mapping]) -> Callable[[Mapping], Mapping]:
    return lambda mapping: then(first(mapping))


@dataclass(slots=True)
class Detection:
    """How a table is read: what of it the balance column proves, what is assumed, and what is to be asked."""

    table: Table
    mapping: Mapping
    proven: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)  # fields that are read as the last time
    lost: list[str] = field(default_factory=list)  # kept fields whose column is not there any more


def detect(lines: Sequence[Line], *, settings: Any = None, own: Own | None = None) -> Detection:
    """Return how a file is read. ``settings`` are those that somebody gave, kept or answered: they are never changed.

    Reads at most the first 1,000 rows for columns, and all of them for dates and values.
    """
    given = normalize_settings(settings)
    return _Search(find_given_table(lines, given), given, own or Own()).run()


def find_given_table(lines: Sequence[Line], given: dict[str, Any]) -> Table:
    """The table at the kept place, or where its headings stand in this file."""
    skip_below = given.get("skipBelow", 0)
    table = find_table(lines, skip_above=given.get("skipAbove"), skip_below=skip_below)
    if "skipAbove" not in given:
        return table
    names = [name for name in _flat(given.get("columns", {})) if isinstance(name, str)]
    if all(find_place(name, table.names) is not None for name in names) and (names or table.rows):
        return table
    other = find_table(lines, skip_below=skip_below)
    count = [sum(find_place(name, each.names) is not None for name in names) for each in (table, other)]
    return other if count[1] > count[0] else table


def _flat(columns: dict[str, Any]) -> list[Any]:
    return [each for value in columns.values() for each in (value if isinstance(value, list) else [value])]


class _Search:
    """One search; each step decides a part of the mapping or asks."""

    def __init__(self, table: Table, given: dict[str, Any], own: Own):
        self.table, self.given, self.own = table, given, own
        self.columns = build_columns(table)
        self.roles = find_roles(self.columns)
        self.result = Detection(table, Mapping())
        self.open: list[tuple[str, str, list[Answer]]] = []
        self.taken: set[int] = set()
        self.pinned: dict[str, int | None] = {}
        self.steps: Steps | None = None
        self.is_proven = False

    def run(self) -> Detection:
        self.read_given()
        self.choose_date()
        self.choose_marks()
        self.choose_balance_and_amounts()
        self.choose_currency()
        self.choose_direction_and_sign()
        self.choose_fee()
        self.choose_status()
        self.choose_account()
        self.choose_texts()
        self.ask_lost()
        return self.finish()

    # ------------------------------------------------------------------------------------------ tools

    @property
    def mapping(self) -> Mapping:
        return self.result.mapping

    @mapping.setter
    def mapping(self, value: Mapping) -> None:
        self.result.mapping = value

    def put(self, name: str, place: int | None) -> None:
        self.mapping = self.mapping.with_column(name, place)
        if place is not None:
            self.taken.add(place)

    def free(self, columns: Sequence[Column]) -> list[Column]:
        return [column for column in columns if column.place not in self.taken]

    def role(self, name: str) -> list[Column]:
        return self.free(self.roles.get(name, []))

    def told(self, place: int) -> str | int:
        name = self.table.names[place]
        return name if name and self.table.names.count(name) == 1 else place

    def ask(self, question: str, path: str, options: list[Answer]) -> None:
        self.open.append((question, path, options[:MAX_OPTIONS]))

    def is_asked(self, path: str) -> bool:
        return any(each == path for _, each, _ in self.open)

    def finish(self) -> Detection:
        """The questions, each option with the whole mapping as it would be with that answer."""
        self.result.questions = [
            Question(question, path, [Option(value, change(self.mapping)) for value, change in options])
            for question, path, options in self.open
        ]
        return self.result

    def ask_column(self, question: str, name: str, columns: Sequence[Column], *, none: bool = False) -> None:
        """Which column a field is, with the mapping that follows from each."""
        places: list[tuple[Any, int | None]] = [(self.told(each.place), each.place) for each in columns]
        if none:
            places.append((None, None))
        options: list[Answer] = [(value, partial(Mapping.with_column, name=name, place=place)) for value, place in places]
        self.ask(question, f"columns.{name}", options)

    # ------------------------------------------------------------------------------------------ what is given

    def read_given(self) -> None:
        names, kept_headings = self.table.names, self.given.get("headings", ())
        for name, value in self.given.get("columns", {}).items():
            if value is None or value == []:
                self.pinned[name] = None
                continue
            if name == "description":
                values = value if isinstance(value, list) else [value]
                places = [find_place(each, names, kept_headings) for each in values]
                if found := tuple(place for place in places if place is not None):
                    self.mapping = replace(self.mapping, description=found)
                    self.taken.update(found)
                    self.pinned[name] = found[0]
                (self.result.lost if None in places else self.result.kept).append(name)
                continue
            place = find_place(value, names, kept_headings) if not isinstance(value, list) else None
            if place is None:
                self.result.lost.append(name)
            else:
                self.pinned[name] = place
                self.result.kept.append(name)
                self.put(name, place)
        mapping = self.mapping
        if "flipSign" in self.given:
            mapping = replace(mapping, flip_sign=self.given["flipSign"])
        if "signFromBalance" in self.given:
            mapping = replace(mapping, sign_from_balance=self.given["signFromBalance"])
        if "accountValues" in self.given:
            mapping = replace(mapping, accounts=tuple(self.given["accountValues"]))
        for name, attribute in (("directionValues", "directions"), ("statusValues", "statuses")):
            values = {fold_value(text): kind for kind, texts in self.given.get(name, {}).items() for text in texts}
            mapping = replace(mapping, **{attribute: values})
        self.mapping = mapping

    @property
    def has_given_amount(self) -> bool:
        return any(self.pinned.get(name) is not None for name in AMOUNT_FIELDS)

    # ------------------------------------------------------------------------------------------ dates

    def choose_date(self) -> None:
        if "date" not in self.pinned:
            named = [each for each in self.role("date") + self.role("valueDate")]
            found = named or [each for each in self.free(self.columns) if each.is_date_only]
            found = found or [each for each in self.free(self.columns) if each.is_date]
            if found:
                most = max(len(each.filled) for each in found)
                full = [each for each in found if len(each.filled) == most]
                best = next((each for each in full if not each.name.casefold().startswith(LATE_DATES)), full[0])
                self.put("date", best.place)
                if len(found) > 1 and not named:
                    self.result.assumed.append("date")
        if "valueDate" not in self.pinned and (found := self.role("valueDate")):
            self.put("valueDate", found[0].place)
        self.choose_order()

    def choose_order(self) -> None:
        place = self.mapping.columns.get("date")
        if "dateOrder" in self.given:
            self.mapping = replace(self.mapping, date_order=DateOrder(self.given["dateOrder"]))
            return
        if place is None:
            return
        texts = dict.fromkeys(
            cells[place] for line in self.table.rows if place < len(cells := line.cells) and cells[place]
        )
        orders = find_orders(texts)
        other = next((each for each in self.columns if each.place == self.mapping.columns.get("valueDate")), None)
        if len(orders) > 1 and other is not None:
            orders = [order for order in find_orders(other.distinct) if order in orders] or orders
        self.mapping = replace(self.mapping, date_order=orders[0])
        if len(orders) > 1:
            self.ask(
                "date_order",
                "dateOrder",
                [(str(each), changed(date_order=each)) for each in orders],
            )

    # ------------------------------------------------------------------------------------------ numbers

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
        if any("." in text or "," in text for text in texts):
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

    def prove_any(self, balances: list[Column], mark: DecimalMark) -> bool:
        """The amounts that the steps of a balance prove; headings decide where several do."""
        for balance in balances or self.unnamed_balances():
            steps = Steps(balance, self.groups(), mark)
            fees = [each for each in self.role("fee") if each is not balance]
            pair = self.named_pair()
            if pair and balance not in pair and (proof := prove_pair(steps, *pair)):
                self.accept(balance, steps)
                self.put("debit", pair[0].place)
                self.put("credit", pair[1].place)
                return True
            if not balances and pair:
                continue
            singles = [each for each in self.single_candidates() if each is not balance]
            for single in singles:
                if prove_single(steps, single):
                    self.accept(balance, steps)
                    self.put("amount", single.place)
                    return True
            for single in singles:
                for fee in fees:
                    if single is not fee and (proof := prove_fee(steps, single, fee)):
                        self.accept(balance, steps)
                        self.put("amount", single.place)
                        if "fee" not in self.pinned:
                            self.put("fee", fee.place)
                        self.result.proven.append("fee")
                        return bool(proof)
        return False

    def unnamed_balances(self) -> list[Column]:
        if "balance" in self.pinned:
            return []
        return [each for each in self.numbers() if not each.fields]

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

    # ------------------------------------------------------------------------------------------ direction and sign

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
        places = [self.mapping.columns.get(name) for name in ("debit", "credit")]
        return (self.columns[places[0]], self.columns[places[1]]) if None not in places else None  # type: ignore[index,return-value]

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
        texts = [cell for line in self.table.above[-5:] for cell in line.cells] + self.table.names
        return any(word in text.casefold() for text in texts for word in CARD_WORDS)

    # ------------------------------------------------------------------------------------------ fee

    def choose_fee(self) -> None:
        if "fee" in self.pinned or "fee" in self.result.proven or "amount" not in self.mapping.columns:
            return
        fees = [
            each
            for each in self.role("fee")
            if any((amount or "0").strip("-0.") for amount in each.amounts(self.mapping.decimal_mark))
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

    def gross_beside(self, net: Column) -> bool:
        """Whether another column has the amount before fees, so that this one has them inside."""
        return any(each is not net for each in self.roles.get("gross", []) + self.roles.get("amount", []))

    # ------------------------------------------------------------------------------------------ currency

    def choose_currency(self) -> None:
        places = [self.mapping.columns[name] for name in AMOUNT_FIELDS if name in self.mapping.columns]
        headings = {self.columns[place].heading_currency for place in places} - {""}
        if len(headings) == 1:
            self.mapping = replace(self.mapping, currency=headings.pop())
        if "currency" in self.pinned or self.mapping.currency:
            return
        named = self.role("currency")
        unnamed = [each for each in self.free(self.columns) if each.is_currency and not each.is_number]
        unnamed = [each for each in unnamed if not any(name == "original" for name, _ in each.fields)]
        found = named or unnamed
        if not found:
            return
        if self.is_asked("columns.amount") and len(found) > 1:  # each amount has the currency behind it
            place = next(place for place, each in enumerate(self.open) if each[1] == "columns.amount")
            question, path, options = self.open[place]
            behind = partial(self.with_next_currency, found=found)
            self.open[place] = (question, path, [(value, chain(change, behind)) for value, change in options])
            self.mapping = behind(self.mapping)
            return
        different = [each for each in found if each.cells != found[0].cells]
        if different:
            near = [each for each in found if places and each.place == places[0] + 1]
            if len(near) == 1:
                self.put("currency", near[0].place)
                return
            self.put("currency", found[0].place)
            self.ask_column("currency_column", "currency", [found[0], *different])
            return
        self.put("currency", found[0].place)

    def with_next_currency(self, mapping: Mapping, found: list[Column]) -> Mapping:
        place = mapping.columns["amount"]
        behind = [each for each in found if each.place > place]
        return mapping.with_column("currency", (behind or found[-1:])[0].place)

    # ------------------------------------------------------------------------------------------ status and account

    def all_values(self, place: int) -> list[str]:
        """The values of a column in all rows, without case, in their order."""
        found: dict[str, None] = {}
        date_place = self.mapping.columns.get("date", 0)
        for line in self.table.rows:
            cells = line.cells
            if place < len(cells) and date_place < len(cells) and any(sign.isdigit() for sign in cells[date_place]):
                found[fold_value(cells[place])] = None
        return list(found)

    def choose_status(self) -> None:
        if "status" in self.pinned:
            if self.pinned["status"] is None:
                return
            column = self.columns[self.pinned["status"]]
        else:
            found = self.role("status") or [
                each
                for each in self.free(self.columns)
                if each.is_words
                and not each.fields
                and 1 < len(each.values) <= 12
                and all(map(find_status, each.values))
            ]
            if not found:
                return
            column = found[0]
        values = self.all_values(column.place)
        known = dict(self.mapping.statuses)
        known |= {value: kind for value in values if value not in known and (kind := find_status(value))}
        unknown = [value for value in values if value not in known]
        if "status" not in self.pinned and len(values) == 1 and unknown:
            return  # one value says nothing of which rows count
        self.put("status", column.place)
        self.mapping = replace(self.mapping, statuses=known)
        if unknown:
            options: list[Answer] = []
            for kind in ("booked", "pending", "leaveOut"):
                whole = {**known, **dict.fromkeys(unknown, kind)}
                value = {
                    each: [text for text, is_kind in whole.items() if is_kind == each]
                    for each in ("booked", "pending", "leaveOut")
                }
                options.append((value, changed(statuses=whole)))
            self.ask("status_values", "statusValues", options)

    def choose_account(self) -> None:
        if self.mapping.accounts is not None:
            if "account" not in self.pinned and not self.table.sections and (found := self.role("account")):
                self.put("account", found[0].place)
            return
        names: list[str] = []
        if self.table.sections:
            names = self.table.section_names
        elif "account" not in self.pinned or self.pinned["account"] is not None:
            place = self.pinned.get("account")
            found = [self.columns[place]] if place is not None else self.role("account")
            if not found:
                return
            values = self.table_values(found[0].place)
            if len(values) < 2:
                if values:
                    self.put("account", found[0].place)
                return
            self.put("account", found[0].place)
            names = values
        if len(names) < 2:
            return
        own = [name for name in names if self.own.number and is_same_number(name, self.own.number)]
        if own:
            self.mapping = replace(self.mapping, accounts=tuple(own))
            self.result.proven.append("account")
            return
        options: list[Answer] = [([name], changed(accounts=(name,))) for name in names[: MAX_OPTIONS - 1]]
        options.append((names, changed(accounts=tuple(names))))
        self.ask("account_values", "accountValues", options)

    def table_values(self, place: int) -> list[str]:
        """The values of a column as they are written, each once."""
        found: dict[str, str] = {}
        for line in self.table.rows:
            cells = line.cells
            if place < len(cells) and cells[place]:
                found.setdefault(fold_value(cells[place]), cells[place])
        return list(found.values())

    # ------------------------------------------------------------------------------------------ texts

    def choose_texts(self) -> None:
        complete = "date" in self.pinned and self.has_given_amount
        if complete:
            return
        for name in ("counterparty", "counterpartyAccount", "reference", "category", "notes"):
            if name not in self.pinned and (found := self.role(name)):
                self.put(name, found[0].place)
        if "description" not in self.pinned:
            found = [each for each in self.role("description") if each.filled]
            if not found:
                words = [
                    each
                    for each in self.free(self.columns)
                    if each.is_words and not set(dict(each.fields)) & {"category", "status", "account"}
                ]
                found = sorted(words, key=lambda each: -sum(map(len, each.filled)) / max(len(each.cells), 1))[:1]
            found.sort(key=lambda each: each.place)
            self.mapping = replace(self.mapping, description=tuple(each.place for each in found))
            self.taken.update(self.mapping.description)

    def ask_lost(self) -> None:
        """What was kept and is not there any more: the column that seems to be it now, or none."""
        for name in self.result.lost:
            if name == "description" or self.is_asked(f"columns.{name}"):
                continue
            place = self.mapping.columns.get(name)
            found = (
                [self.columns[place]]
                if place is not None
                else [each for each in self.free(self.columns) if each.allows(name)]
            )
            if (
                name
                in ("counterparty", "counterpartyAccount", "reference", "category", "notes", "valueDate", "balance")
                and place is not None
            ):
                self.result.assumed.append(name)
                continue
            self.ask_column("column_gone", name, found[: MAX_OPTIONS - 1], none=name not in ("date", "amount"))


def are_complements(one: Column, other: Column, *, enough: float = 0.8) -> bool:
    """Whether of two columns of amounts each row has one, the other empty or zero."""
    pairs = [(is_zero(a), is_zero(b)) for a, b in zip(one.cells, other.cells, strict=True)]
    fits = sum(a != b for a, b in pairs)
    both = sum(not a and not b for a, b in pairs)
    return bool(pairs) and fits >= enough * len(pairs) and (both == 0 or enough < 0.8)


def is_zero(text: str) -> bool:
    """Whether a cell has no amount in it.

    >>> is_zero(""), is_zero("0,00 EUR"), is_zero("-"), is_zero("10.00")
    (True, True, True, False)
    """
    return not any(sign.isdigit() and sign != "0" for sign in text)


def is_same_number(one: str, other: str) -> bool:
    plain = ["".join(filter(str.isalnum, each)).upper() for each in (one, other)]
    return plain[0] == plain[1] and len(plain[0]) >= 4
