"""Pages of scenarios: compare, create, change, duplicate, adopt, undo and delete."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from companies.pages.context import CompanyPage, company_page
from companies.pages.forms import BoundForm, bind_form
from companies.permissions import Permission
from ledger.models import EXPENSE_LINES, Category
from ledger.transactions.pages.labels import Choices
from planning.models import Scenario
from planning.scenarios.actions import adoption, scenarios
from planning.scenarios.broken_changes import attach_broken_positions
from planning.scenarios.forms import CHANGE_FORMS, build_blank_change_form, build_hire_plan_item, parse_change_form
from planning.scenarios.pages.change_texts import describe_scenario_changes, list_target_choices
from planning.scenarios.queries import MAX_COMPARED
from planning.scenarios.serializers import ScenarioSerializer

TAB = "planned"
MAX_POSITION_DIGITS = 4
HIRE_SYSTEM_KEY = "productDevelopment"


@company_page(reads=Permission.PLANNING_READ)
def show_scenarios(page: CompanyPage) -> HttpResponse:
    """Show all scenarios, and compare up to four of them with the plan."""
    rows = list(Scenario.objects.for_company(page.company.id).order_by("-id"))
    open_ids = [str(row.id) for row in rows if not row.is_adopted]
    return page.render(
        "planning/scenarios/scenarios.html",
        tab=TAB,
        today=page.today,
        scenarios=attach_broken_positions(rows),
        chosen=page.request.GET.getlist("scenario") or open_ids[:MAX_COMPARED],
        writes=page.has_permission(Permission.PLANNING_WRITE),
    )


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def create_scenario_page(page: CompanyPage) -> HttpResponse:
    """Create a scenario without changes."""
    form = BoundForm(values={"name": ""})
    if page.is_post:
        form = bind_form(ScenarioSerializer, page.request.POST, texts=["name"], partial=True)
        if form.is_valid:
            with page.handle_errors(form):
                values = {"name": form.data["name"], "changes": []}
                scenario = scenarios.create_scenario(company=page.company, context=page.audit_context, values=values)
                message = _('Scenario "{name}" added.').format(name=scenario.name)
                return page.redirect_with_message(message, "scenario", scenario_id=scenario.id)
    return page.render("planning/scenarios/scenario_form.html", status=400 if form.errors else 200, tab=TAB, form=form)


@company_page(reads=Permission.PLANNING_READ, writes=Permission.PLANNING_WRITE)
def show_scenario(page: CompanyPage, scenario_id: UUID) -> HttpResponse:
    """Show a scenario with its changes; on POST rename it."""
    scenario = get_scenario_or_404(page, scenario_id)
    form = BoundForm(values={"name": scenario.name})
    if page.is_post:
        form = bind_form(ScenarioSerializer, page.request.POST, texts=["name"], partial=True)
        if form.is_valid:
            with page.handle_errors(form):
                scenario = scenarios.update_scenario(
                    company=page.company,
                    context=page.audit_context,
                    scenario_id=scenario_id,
                    build_values=lambda _stored: form.data,
                )
                message = _("{name} saved.").format(name=scenario.name)
                return page.redirect_with_message(message, "scenario", scenario_id=scenario.id)
    return page.render(
        "planning/scenarios/scenario.html",
        status=400 if form.errors else 200,
        tab=TAB,
        scenario=scenario,
        changes=describe_scenario_changes(page, scenario),
        compounds=sum(change["kind"] == "scale" for change in scenario.changes) > 1,
        form=form,
        kinds=CHANGE_FORMS.items(),
        seen=page.get_seen_version(scenario),
        writes=page.has_permission(Permission.PLANNING_WRITE),
    )


@company_page(reads=Permission.PLANNING_WRITE, writes=Permission.PLANNING_WRITE)
def add_change_page(page: CompanyPage, scenario_id: UUID, kind: str) -> HttpResponse:
    """Add a change to a scenario."""
    scenario, change_form = get_scenario_or_404(page, scenario_id), CHANGE_FORMS.get(kind)
    if change_form is None:
        raise Http404
    form = build_blank_change_form(change_form, today=page.today)
    if "categoryId" in form.values:
        form.values = {**form.values, "categoryId": find_salary_category_id(page)}
    if page.is_post:
        form, changes = parse_change_form(change_form, page.request.POST, currency=page.company.base_currency)
        if form.is_valid:
            with page.handle_errors(form):
                scenarios.add_changes(
                    company=page.company,
                    context=page.audit_context,
                    scenario_id=scenario_id,
                    changes=[*changes, *(item for each in changes for item in list_hire_plan_items(page, each))],
                )
                return page.redirect_with_message(_("Change added."), "scenario", scenario_id=scenario_id)
    choices = list_target_choices(page, has_income=change_form.has_income_targets)
    return page.render(
        "planning/scenarios/change_form.html",
        status=400 if form.errors else 200,
        tab=TAB,
        scenario=scenario,
        form=form,
        kind=change_form,
        categories=list_hire_categories(page, choices["categoryId"][1]),
        targets=[choices[name] for name in change_form.targets if choices[name][1]],
    )


def list_hire_plan_items(page: CompanyPage, parsed_change: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the change that plans a cost of a hire; none for other changes and without a category of expenses."""
    if parsed_change["kind"] != "add":
        return []
    category_id = parsed_change["planned_transaction"]["public"]["categoryId"]
    category = Category.objects.for_company(page.company.id).filter(id=category_id).first() if category_id else None
    lines = [line for line in category.pl_types if line in EXPENSE_LINES] if category else []
    if not lines:
        return []
    return [build_hire_plan_item(parsed_change, pl_type=lines[0], currency=page.company.base_currency)]


def list_hire_categories(page: CompanyPage, choices: Choices) -> Choices:
    """Return the choices of categories, as `name:id`, that post to a line of expenses."""
    rows = Category.objects.for_company(page.company.id).values_list("id", "pl_types")
    expenses = {f"categoryId:{row_id}" for row_id, lines in rows if set(lines) & set(EXPENSE_LINES)}
    return [(value, label) for value, label in choices if value in expenses]


def find_salary_category_id(page: CompanyPage) -> str:
    """Return the id of the built-in category that a hire is preset to; empty if it was deleted."""
    row = Category.objects.for_company(page.company.id).for_system_key(HIRE_SYSTEM_KEY).first()
    return str(row.id) if row else ""


@company_page(writes=Permission.PLANNING_WRITE)
def remove_change_page(page: CompanyPage, scenario_id: UUID, position: str) -> HttpResponse:
    """Remove a change from a scenario."""
    if not (position.isascii() and position.isdigit() and len(position) < MAX_POSITION_DIGITS):
        raise Http404
    with page.handle_errors():
        scenarios.remove_change(
            company=page.company, context=page.audit_context, scenario_id=scenario_id, position=int(position)
        )
        return page.redirect_with_message(_("Change removed."), "scenario", scenario_id=scenario_id)
    return page.redirect("scenarios")


@company_page(writes=Permission.PLANNING_WRITE)
def duplicate_scenario_page(page: CompanyPage, scenario_id: UUID) -> HttpResponse:
    """Duplicate a scenario."""
    original = get_scenario_or_404(page, scenario_id)
    with page.handle_errors():
        scenario = scenarios.duplicate_scenario(
            company=page.company,
            context=page.audit_context,
            scenario_id=scenario_id,
            name=_("Copy of {name}").format(name=original.name)[:300],
        )
        message = _('Scenario "{name}" added.').format(name=scenario.name)
        return page.redirect_with_message(message, "scenario", scenario_id=scenario.id)
    return page.redirect("scenarios")


@company_page(writes=Permission.PLANNING_WRITE)
def adopt_scenario_page(page: CompanyPage, scenario_id: UUID) -> HttpResponse:
    """Adopt a scenario."""
    with page.handle_errors():
        scenario = adoption.adopt_scenario(company=page.company, context=page.audit_context, scenario_id=scenario_id)
        message = _("{name} adopted: its changes are in the plan.").format(name=scenario.name)
        return page.redirect_with_message(message, "scenario", scenario_id=scenario_id)
    return page.redirect("scenarios")


@company_page(writes=Permission.PLANNING_WRITE)
def undo_adoption_page(page: CompanyPage, scenario_id: UUID) -> HttpResponse:
    """Undo the adoption of a scenario."""
    with page.handle_errors():
        scenario = adoption.undo_adoption(company=page.company, context=page.audit_context, scenario_id=scenario_id)
        message = _("Adoption of {name} undone.").format(name=scenario.name)
        return page.redirect_with_message(message, "scenario", scenario_id=scenario_id)
    return page.redirect("scenarios")


@company_page(writes=Permission.PLANNING_WRITE)
def delete_scenario_page(page: CompanyPage, scenario_id: UUID) -> HttpResponse:
    """Delete a scenario."""
    with page.handle_errors():
        scenario = scenarios.delete_scenario(company=page.company, context=page.audit_context, scenario_id=scenario_id)
        return page.redirect_with_message(_("{name} deleted.").format(name=scenario.name), "scenarios")
    return page.redirect("scenarios")


def get_scenario_or_404(page: CompanyPage, scenario_id: UUID) -> Scenario:
    """Return the scenario of the URL with its broken positions.

    Raises:
        Http404: there is none.
    """
    row = get_object_or_404(Scenario.objects.for_company(page.company.id), id=scenario_id)
    row.company = page.company
    return attach_broken_positions([row])[0]
