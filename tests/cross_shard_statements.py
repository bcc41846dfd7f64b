"""Find SQL statements that a Citus cluster would send to every shard.

Such a statement touches a company table without naming the company. It is parsed as PostgreSQL parses it. A
table is tied to a company if its company column equals a value, one of several values, or the company
column of a tied table, in a condition that holds for every row. A subquery may be tied by its outer query
only where it stands in that query's condition, as Citus does it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from django.apps import apps
from django.core.handlers.base import BaseHandler
from django.db import connection
from pglast import ast, parse_sql
from pglast.enums import A_Expr_Kind, BoolExprType, SubLinkType

from companies.models import CompanyOwned
from companies.models.tenancy import COMPANY_TABLE

TIED_BY_VALUE = "a value"
VALUE_NODES = (ast.ParamRef, ast.A_Const)
PLACEHOLDER = re.compile(r"%(?:s|\(\w+\)s|%)")
EQUALITY_KINDS = {A_Expr_Kind.AEXPR_OP, A_Expr_Kind.AEXPR_IN, A_Expr_Kind.AEXPR_OP_ANY}
TYING_SUBLINKS = {SubLinkType.EXISTS_SUBLINK, SubLinkType.ANY_SUBLINK}
TRANSACTION_CONTROL = ("SAVEPOINT ", "RELEASE SAVEPOINT ", "ROLLBACK TO SAVEPOINT ")  # each with a name of its own


@cache
def list_company_columns() -> dict[str, str]:
    """Return {company-owned table: the column with the company's id}."""
    owned = {
        model._meta.db_table: "company_id"
        for model in apps.get_models()
        if model._meta.db_table != COMPANY_TABLE and has_company_key(model)
    }
    return owned | {COMPANY_TABLE: "id"}


def has_company_key(model: Any) -> bool:
    key = getattr(model._meta.pk, "field_names", (model._meta.pk.attname,))
    return issubclass(model, CompanyOwned) or key[0] in ("company_id", "company")


class Query:
    """One SELECT, UPDATE or DELETE, and its tables; ``outer`` is the query that may tie them too."""

    def __init__(self, reading: "StatementReading", outer: "Query | None"):
        self.reading, self.outer = reading, outer
        self.names: dict[str, str | None] = {}  # alias → table; None for a subquery

    def node(self, column: Any) -> Any:
        """Return the node of a column, or None if the expression is not a column."""
        if not isinstance(column, ast.ColumnRef) or not all(isinstance(each, ast.String) for each in column.fields):
            return None
        *qualified, name = [each.sval for each in column.fields]
        query: Query | None = self
        while query is not None:
            called = qualified[-1] if qualified else query.only(name)
            if called in query.names:
                return query, called, name
            query = query.outer
        return None

    def only(self, column: str) -> str | None:
        """Return the table of an unqualified column."""
        names = [name for name, table in self.names.items() if table is None or list_company_columns()[table] == column]
        tables = [name for name in names if self.names[name]]
        result = tables or names
        return result[0] if len(result) == 1 else None

    def tie(self, condition: Any) -> None:
        """Tie columns by a condition that holds for every row."""
        if isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.AND_EXPR:
            for each in condition.args:
                self.tie(each)
        elif isinstance(condition, ast.BoolExpr) and condition.boolop == BoolExprType.NOT_EXPR:
            self.tie_subquery(condition.args[0])
        elif isinstance(condition, ast.A_Expr) and condition.kind in EQUALITY_KINDS and condition.name[-1].sval == "=":
            self.equal(condition.lexpr, condition.rexpr)
            self.reading.subqueries(condition, None)
        elif not self.tie_subquery(condition):
            self.reading.subqueries(condition, None)

    def tie_subquery(self, condition: Any) -> bool:
        if not isinstance(condition, ast.SubLink) or condition.subLinkType not in TYING_SUBLINKS:
            self.reading.subqueries(condition, None)
            return False
        self.reading.read(condition.subselect, self)
        return True

    def equal(self, left: Any, right: Any) -> None:
        for one, other in ((left, right), (right, left)):
            node = self.node(one)
            if node and is_value(other):
                self.reading.unite(node, TIED_BY_VALUE)
            elif node and (partner := self.node(other)):
                self.reading.unite(node, partner)


def is_value(expression: Any) -> bool:
    if isinstance(expression, ast.TypeCast):
        return is_value(expression.arg)
    if isinstance(expression, ast.A_ArrayExpr):
        return all(map(is_value, expression.elements or ()))
    if isinstance(expression, tuple):
        return all(map(is_value, expression))
    return isinstance(expression, VALUE_NODES)


class StatementReading:
    """A parsed statement and the equalities between its columns."""

    def __init__(self) -> None:
        self.same: dict[Any, Any] = {}
        self.queries: list[Query] = []
        self.named: set[str] = set()  # WITH

    def unite(self, one: Any, other: Any) -> None:
        self.same[self.root(one)] = self.root(other)

    def root(self, node: Any) -> Any:
        while node in self.same and self.same[node] != node:
            node = self.same[node]
        return node

    def untied(self) -> set[str]:
        given = self.root(TIED_BY_VALUE)
        return {
            table
            for query in self.queries
            for name, table in query.names.items()
            if table and self.root((query, name, list_company_columns()[table])) != given
        }

    def read(self, statement: Any, outer: Query | None) -> None:
        for each in getattr(getattr(statement, "withClause", None), "ctes", None) or ():
            self.named.add(each.ctename)
            self.read(each.ctequery, None)
        if isinstance(statement, ast.InsertStmt):  # each row goes to its company; those of a query have to be found
            self.read(statement.selectStmt, None)
        elif isinstance(statement, ast.SelectStmt) and statement.larg:
            self.read(statement.larg, outer)
            self.read(statement.rarg, outer)
        elif isinstance(statement, ast.SelectStmt | ast.UpdateStmt | ast.DeleteStmt):
            self.query(statement, outer)

    def query(self, statement: Any, outer: Query | None) -> None:
        query = Query(self, outer)
        self.queries.append(query)
        sources = list(getattr(statement, "fromClause", None) or getattr(statement, "usingClause", None) or ())
        if not isinstance(statement, ast.SelectStmt):
            sources.append(statement.relation)
        joins = [join for source in sources for join in self.source(query, source)]
        for join in joins:
            query.tie(join.quals)
            self.using(query, join)
        query.tie(statement.whereClause)
        for part in ("targetList", "groupClause", "havingClause", "sortClause", "valuesLists", "limitCount"):
            self.subqueries(getattr(statement, part, None), None)

    def source(self, query: Query, source: Any) -> Iterator[Any]:
        """Add a table or subquery of FROM; yield its joins."""
        if isinstance(source, ast.JoinExpr):
            yield from self.source(query, source.larg)
            yield from self.source(query, source.rarg)
            yield source
        elif isinstance(source, ast.RangeVar):
            called = source.alias.aliasname if source.alias else source.relname
            known = source.relname in list_company_columns() and source.relname not in self.named
            query.names[called] = source.relname if known else None
        elif isinstance(source, ast.RangeSubselect):
            query.names[source.alias.aliasname if source.alias else ""] = None
            self.read(source.subquery, query if source.lateral else None)
        else:
            self.subqueries(source, None)

    def using(self, query: Query, join: Any) -> None:
        if "company_id" in {each.sval for each in join.usingClause or ()}:
            sides = [(query, name, "company_id") for name, table in query.names.items() if table != COMPANY_TABLE]
            for side in sides[1:]:
                self.unite(sides[0], side)

    def subqueries(self, part: Any, outer: Query | None) -> None:
        """Read every subquery in a part of a statement."""
        if isinstance(part, ast.SelectStmt):
            self.read(part, outer)
        elif isinstance(part, tuple):
            for each in part:
                self.subqueries(each, outer)
        elif isinstance(part, ast.Node):
            for name in part:
                self.subqueries(getattr(part, name), outer)


@cache
def find_untied_tables(statement: str) -> frozenset[str]:
    """Return the company tables that a statement reads without naming the company."""
    numbers = iter(range(1, statement.count("%") + 1))
    text = PLACEHOLDER.sub(lambda found: "%" if found[0] == "%%" else f"${next(numbers)}", statement)
    reading = StatementReading()
    for each in parse_sql(text):
        reading.read(each.stmt, None)
    return frozenset(reading.untied())


UntiedStatement = tuple[str, str, tuple[str, ...], str]  # method, address, tables, statement


@dataclass
class StatementLog:
    """The number of statements that requests sent to the database, and the statements that go to every shard."""

    statements: int = 0
    cross_shard: list[UntiedStatement] = field(default_factory=list)
    by_staff: list[UntiedStatement] = field(default_factory=list)

    @contextmanager
    def record(self, request: Any) -> Iterator[None]:
        """Record the statements of a request while the block runs."""

        def record_statement(execute: Any, statement: Any, *rest: Any) -> Any:
            text = statement if isinstance(statement, str) else statement.as_string()
            self.statements += 1
            if text.startswith(TRANSACTION_CONTROL):
                return execute(statement, *rest)
            if tables := find_untied_tables(text):
                result = (request.method, format_route(request), tuple(sorted(tables)), text)
                (self.by_staff if request.path.startswith("/admin/") else self.cross_shard).append(result)
            return execute(statement, *rest)

        with connection.execute_wrapper(record_statement):
            yield


def watch_statements(monkeypatch: Any) -> StatementLog:
    """Record the statements of every request until the test ends."""
    statement_log = StatementLog()
    original_get_response = BaseHandler.get_response

    def get_response(handler: Any, request: Any) -> Any:
        with statement_log.record(request):
            response = original_get_response(handler, request)
        if response.streaming and not response.is_async:
            response.streaming_content = watch_stream(response.streaming_content, statement_log, request)
        return response

    monkeypatch.setattr(BaseHandler, "get_response", get_response)
    return statement_log


def watch_stream(content: Any, statement_log: StatementLog, request: Any) -> Iterator[Any]:
    parts = iter(content)
    while True:
        with statement_log.record(request):
            part = next(parts, None)
        if part is None:
            return
        yield part


def format_route(request: Any) -> str:
    """Return the route of a request, with {} for each parameter."""
    match = request.resolver_match
    return "/" + re.sub(r"<[^>]+>", "{}", match.route) if match else request.path
