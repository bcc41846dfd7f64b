"""Settings pages of a company: creating, editing, logo."""

from datetime import timedelta

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from companies import hooks
from companies.actions import companies
from companies.actions import logo as logos
from companies.locales import get_current_locale
from companies.models import Company, Currency, SystemStatus, ValuationCategory, ValuationLens
from companies.pages.amount_formats import format_percent_for_input
from companies.pages.context import (
    CompanyPage,
    build_audit_context,
    company_page,
    get_signed_in_user,
    handle_form_errors,
    redirect_unless_recent_login,
    require_sign_in,
)
from companies.pages.forms import BoundForm, bind_form
from companies.permissions import Permission
from companies.serializers import CompanySerializer, NewCompany
from companies.time_zones import UTC_NAME, list_regional_time_zones
from companies.uploaded_files import find_uploaded_file

PERCENT_FIELDS = ("standardTaxPercent",)
TEXT_FIELDS = (*PERCENT_FIELDS, "name", "timeZone", "domain", "valuationCategory", "valuationLens")
SANDBOX_FIELDS = ("testToday",)
FLAG_FIELDS = ("plShowPlanningPercentageForPastMonths", "plShowAllCategories", "plRecognizeRevenueOnInvoice")
MANAGED_FIELDS = ("baseCurrency", "dataStartDate")  # need company:manage; not sent to others
MFA_FLAGS = ("requireSecondFactor",)
VALUATION_CATEGORY_LABELS = {
    ValuationCategory.TRADITIONAL: gettext_lazy("Traditional B2B SaaS"),
    ValuationCategory.AI_ENHANCED: gettext_lazy("AI-enhanced SaaS"),
    ValuationCategory.AI_NATIVE: gettext_lazy("AI native"),
}
VALUATION_LENS_LABELS = {
    ValuationLens.FUNDRAISING: gettext_lazy("Fundraising"),
    ValuationLens.ACQUISITION: gettext_lazy("Acquisition"),
}
COMPANY_STATUS_LABELS = {
    SystemStatus.SANDBOX: gettext_lazy("sandbox"),
    SystemStatus.TRIAL: gettext_lazy("trial"),
    SystemStatus.FREE: gettext_lazy("free"),
    SystemStatus.PAID: gettext_lazy("paid"),
    SystemStatus.CANCELLED: gettext_lazy("cancelled"),
    SystemStatus.EXPIRED: gettext_lazy("expired"),
    SystemStatus.BETA: gettext_lazy("beta"),
}


@require_sign_in
@require_http_methods(["GET", "HEAD", "POST"])
def create_company_page(request: HttpRequest) -> HttpResponse:
    """Create a company, owned by the signed-in user."""
    values = {"name": "", "baseCurrency": Currency.EUR.value, "timeZone": UTC_NAME, "domain": ""}
    values |= dict.fromkeys(PERCENT_FIELDS, "")
    form = BoundForm(values=values)
    if request.method == "POST":
        form = bind_form(
            NewCompany, {"timeZone": UTC_NAME, **request.POST.dict()}, texts=values, percents=PERCENT_FIELDS
        )
        if form.is_valid:
            audit_context = build_audit_context(request)
            with handle_form_errors(request, form):
                company, _owner = companies.create_company(
                    **form.data, owner=get_signed_in_user(request), context=audit_context
                )
                message = _("{company} created. Your trial ends on {day}.")
                messages.success(request, message.format(company=company.name, day=format_trial_end(company)))
                return redirect("company", company_id=company.id)
    taxes = {zone: percent for rates in hooks.list_zone_taxes.run() for zone, percent in rates.items()}
    context = {
        "form": form,
        "currencies": Currency.values,
        "time_zones": [(name, format_percent_for_input(taxes.get(name))) for name in list_regional_time_zones()],
    }
    return render(request, "companies/company_form.html", context, status=400 if form.errors else 200)


def format_trial_end(company: Company) -> str:
    """Format the last day of the trial."""
    last_moment = (company.system_trial_until or timezone.now()) - timedelta(seconds=1)
    return get_current_locale().format_long_day(last_moment)


@company_page(reads=Permission.COMPANY_READ, writes=Permission.COMPANY_WRITE)
def edit_company_page(page: CompanyPage) -> HttpResponse:
    """Edit the company's settings; those that affect all figures need company:manage."""
    can_manage = page.has_permission(Permission.COMPANY_MANAGE)
    if page.request.method != "POST":
        standard_tax = format_percent_for_input(page.company.standard_tax_percent)
        values = CompanySerializer(page.company).data | {"standardTaxPercent": standard_tax}
        return render_company_settings(page, BoundForm(values=values))
    form = bind_form(
        CompanySerializer,
        page.request.POST,
        texts=(
            *TEXT_FIELDS,
            *(SANDBOX_FIELDS if page.company.is_sandbox else ()),
            *(MANAGED_FIELDS if can_manage else ()),
        ),
        percents=PERCENT_FIELDS,
        flags=(*FLAG_FIELDS, *(MFA_FLAGS if can_manage else ())),
        partial=True,
    )
    if form.is_valid and can_manage and form.data["require_second_factor"] != page.company.require_second_factor:
        label_text = _("Change whether members need two-factor authentication.")
        if login_redirect := redirect_unless_recent_login(
            page.request, next_path=page.request.path, get_action_label=lambda: label_text
        ):
            return login_redirect
    if form.is_valid:
        with page.handle_errors(form):
            companies.update_company(
                company=page.company, context=page.audit_context, permissions=page.access.permissions, values=form.data
            )
            return page.redirect_with_message(_("Company saved."), "company-settings")
    return render_company_settings(page, form)


def render_company_settings(page: CompanyPage, form: BoundForm) -> HttpResponse:
    """Render the company's settings."""
    return page.render(
        "companies/settings/company.html",
        status=400 if form.errors else 200,
        section="company",
        form=form,
        seen=page.get_seen_version(page.company),
        currencies=Currency.values,
        time_zones=sorted({*list_regional_time_zones(), page.company.time_zone}),
        categories=VALUATION_CATEGORY_LABELS,
        lenses=VALUATION_LENS_LABELS,
        status_word=COMPANY_STATUS_LABELS[SystemStatus(page.company.system_status)],
        writes=page.has_permission(Permission.COMPANY_WRITE),
        manages=page.has_permission(Permission.COMPANY_MANAGE),
    )


@company_page(writes=Permission.COMPANY_WRITE, uploads=True)
def replace_logo_page(page: CompanyPage) -> HttpResponse:
    """Replace or remove the company's own logo."""
    with page.handle_errors():
        upload = find_uploaded_file(page.request.FILES, "logo")
        if upload is None and "remove" not in page.request.POST:
            messages.error(page.request, _("Choose a PNG image."))
            return redirect("company-settings", company_id=page.company.id)
        png = None if upload is None or "remove" in page.request.POST else logos.read_uploaded_logo(upload)
        logos.replace_logo(company=page.company, context=page.audit_context, png=png)
        message = _("Logo removed.") if png is None else _("Logo replaced.")
        return page.redirect_with_message(message, "company-settings")
    return page.redirect("company-settings")
