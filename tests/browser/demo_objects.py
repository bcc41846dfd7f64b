"""What the demo company lacks for some pages to have an address, created beside the running server."""

import io
import json
from datetime import timedelta
from typing import Any

from django.contrib.auth.tokens import default_token_generator
from django.core.files.base import ContentFile
from django.core.management import call_command
from django.utils import timezone
from django.utils.http import urlsafe_base64_encode

from companies.actions.email_change import hash_email_change_token
from companies.actions.invitations import hash_invitation_token
from companies.actions.sandboxes import copy_company
from companies.actions.sign_up import build_sign_up_token
from companies.models import AuditContext, EmailChange, Membership, User
from ledger.imports.actions import uploads
from ledger.subscriptions.actions.event_file_import import EventFileOptions, import_subscription_event_file
from planning.invoices.actions.invoice_imports import InvoiceImportOptions, import_invoices

TOKEN = "walked"
STATEMENT = b"Date,Amount,Text\n2026-01-05,-4.50,Coffee\n2026-01-06,nothing,Tea\n"
INVOICES = b"Invoice number,Customer,Invoice date,Amount\nR-1,Globex,2026-01-05,70.00\n"
PLAN = b"Category,2026-10,2026-11\nHosting,500.00,600.00\nGlobex,70.00,\nTotal,570.00,600.00\n"
EVENTS = b"Customer,Date,MRR\nWayne,2026-01-05,70.00\n"


def create_demo_objects(company_id: str, email: str) -> dict[str, Any]:
    """Create mailed links, files that wait for their import, imports, a sandbox and an app; return what their
    addresses are made of.
    """
    owner = Membership.objects.for_company(company_id).owners().select_related("company").get(user__email=email)
    now = timezone.now()
    context = AuditContext(time=now, actor=str(owner.user_id), user_id=owner.user_id)
    reader = User.objects.get(email="vera.board@example.com")
    invited = Membership(
        company_id=owner.company_id, role="viewer", invited_email="new@example.com",
        token_digest=hash_invitation_token(TOKEN), expires_time=now + timedelta(days=7),
    ).mark_created(context)  # fmt: skip
    invited.save(force_insert=True)
    EmailChange.objects.create(
        user_id=owner.user_id, email="new@example.com", token_digest=hash_email_change_token(TOKEN),
        expires_time=now + timedelta(days=1),
    )  # fmt: skip
    today, due = now.date(), now.date() + timedelta(days=30)
    invoice_file = f"Invoice number,Customer,Invoice date,Due date,Amount\nR-0,Globex,{today},{due},70.00\n"
    invoice_import = import_invoices(
        company=owner.company, context=context, kind="receivables", content=invoice_file.encode(), filename="open.csv",
        source="manual", options=InvoiceImportOptions(),
    ).invoice_import  # fmt: skip
    event_import = import_subscription_event_file(
        company=owner.company, context=context, content=EVENTS.replace(b"2026-01-05", str(today).encode()),
        filename="events.csv", options=EventFileOptions(),
    ).event_import  # fmt: skip
    app = io.StringIO()
    words = {"name": "Forecaster", "redirect_uris": ["http://127.0.0.1/callback"], "scopes": "svc:read offline_access"}
    call_command("register_app", **words, stdout=app)
    return {
        "password_reset": [urlsafe_base64_encode(str(reader.pk).encode()), default_token_generator.make_token(reader)],
        "invitation": [str(owner.company_id), str(invited.id), TOKEN],
        "email_change": TOKEN,
        "sign_up": build_sign_up_token("new@example.com"),
        "statement": store_upload(owner, STATEMENT),
        "invoices": store_upload(owner, INVOICES),
        "plan": store_upload(owner, PLAN),
        "events": store_upload(owner, EVENTS),
        "invoice_import": str(invoice_import.id),
        "event_import": str(event_import.id),
        "sandbox": str(copy_company(company=owner.company, context=context, name="What if").id),
        "client_id": json.loads(app.getvalue())["client_id"],
    }


def store_upload(owner: Membership, content: bytes) -> str:
    """Store a file that waits for its import; return its id."""
    file = ContentFile(content)
    return str(uploads.store_upload(company_id=owner.company_id, user_id=owner.user_id, file=file))
