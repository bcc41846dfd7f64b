"""The signs of payments for advertising, recruiting, hosting and software.

Several vendors sell more than one of these under one name, such as Google, Microsoft and LinkedIn: without a word for
one of them, the kind is open.
"""

from ledger.rules.calc.payment_kinds import PaymentKind, build_signs

ONLINE_VENDOR_SIGNS = (
    build_signs(PaymentKind.RECRUITING, names=("LinkedIn",), texts=("Recruiter", "Talent", "Jobs", "Job slot")),
    build_signs(PaymentKind.ADVERTISING, names=("LinkedIn",), texts=("Ads", "Marketing", "Campaign", "Kampagne")),
    build_signs(PaymentKind.ADVERTISING, names=("Microsoft",), texts=("Advertising", "Ads", "Bing Ads")),
    build_signs(
        PaymentKind.ADVERTISING,
        names=("Google Ads", "LinkedIn Ads", "Microsoft Advertising", "Amazon Advertising", "TikTok Ads"),
    ),
    build_signs(PaymentKind.ADVERTISING, names=("Meta Platforms", "Facebook")),
    build_signs(
        PaymentKind.ADVERTISING,
        name_starts=("Facebk", "Google Ads", "LinkedIn Ads", "Microsoft Ads", "Amazon Ads", "Apple Search Ads"),
    ),
    build_signs(PaymentKind.RECRUITING, name_starts=("LinkedIn Recruiter", "LinkedIn Jobs")),
    build_signs(PaymentKind.RECRUITING, names=("StepStone", "Indeed")),
    build_signs(
        PaymentKind.RECRUITING,
        texts=("Stellenanzeige", "Stellenanzeigen", "Personalvermittlung", "job ad", "job ads", "recruitment fee"),
        is_billed=True,
    ),
    build_signs(
        PaymentKind.ADVERTISING,
        texts=(
            *("Standmiete", "Messestand", "Flyer", "Werbemittel", "Werbeanzeige", "Werbekampagne"),
            *("trade fair booth", "advertising campaign", "marketing campaign"),
        ),
        except_texts=("Frequent",),
        is_billed=True,
    ),
    build_signs(PaymentKind.HOSTING, names=("Microsoft",), texts=("Azure",)),
    build_signs(
        PaymentKind.OFFICE_SOFTWARE, names=("Microsoft",), texts=("Microsoft 365", "M365", "Office 365", "Teams")
    ),
    build_signs(PaymentKind.OFFICE_SOFTWARE, names=("Google",), texts=("Workspace", "G Suite", "GSuite")),
    build_signs(PaymentKind.OFFICE_SOFTWARE, name_starts=("Google Workspace", "Google GSuite")),
    build_signs(PaymentKind.HOSTING, names=("Google",), texts=("Cloud", "GCP")),
    build_signs(
        PaymentKind.HOSTING,
        name_starts=(
            *(
                "AWS EMEA",
                "Amazon Web Services",
                "Google Cloud",
                "Microsoft Azure",
                "Hetzner Online",
                "DigitalOcean",
                "Cloudflare",
            ),
            *("Scaleway", "Heroku", "Vercel", "Netlify"),
        ),
    ),
    build_signs(
        PaymentKind.HOSTING,
        names=(
            *("AWS", "Amazon Web Services", "Google Cloud", "Microsoft Azure", "Hetzner", "Hetzner Online", "OVH"),
            *("DigitalOcean", "Cloudflare", "IONOS", "Scaleway", "Heroku", "Vercel", "Netlify", "netcup", "STRATO"),
        ),
    ),
    build_signs(
        PaymentKind.DEVELOPMENT_SOFTWARE,
        names=(
            "GitHub",
            "GitLab",
            "Atlassian",
            "JetBrains",
            "Sentry",
            "Figma",
            "Datadog",
            "Docker",
            "OpenAI",
            "Anthropic",
        ),
    ),
    build_signs(
        PaymentKind.DEVELOPMENT_SOFTWARE,
        name_starts=(
            *("GitHub", "GitLab", "Atlassian", "JetBrains", "Figma", "Datadog", "OpenAI", "ChatGPT", "Anthropic"),
            "Claude.ai",
        ),
    ),
    build_signs(
        PaymentKind.OFFICE_SOFTWARE,
        name_starts=(
            *("Notion Labs", "Canva", "Apple.com/bill", "Dropbox", "Adobe Systems", "Adobe Creative", "Zoom.us"),
            *("Zoom.com", "Microsoft 365", "Slack Technologies", "DocuSign", "1Password", "Personio", "sevdesk"),
        ),
    ),
    build_signs(
        PaymentKind.OFFICE_SOFTWARE,
        names=(
            *("Slack", "Slack Technologies", "Notion Labs", "Zoom Video Communications", "Google Workspace", "Dropbox"),
            *("Microsoft 365", "Adobe", "Adobe Systems Software", "DATEV", "Personio", "DocuSign", "1Password"),
            *("lexoffice", "Haufe-Lexware", "sevdesk", "Asana", "Miro"),
        ),
    ),
)
