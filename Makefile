# Two commands do everything on a machine with Python 3.11 or newer: `make run` and `make test`.
# PORT, DATA_DIR and every other setting come from the environment.

PYTHON ?= $(or $(shell for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$python" && break; done),python3)
BIN := .venv/bin
RUNS := .venv/.installed
TESTS := .venv/.installed-for-tests
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --root-user-action=ignore
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 \
	-o DPkg::Lock::Timeout=60

# What the OpenAPI document is held against, where there is a node that is new enough for it.
RULES := tests/openapi/node_modules/.installed
NPM := npm --prefix tests/openapi
NEW_ENOUGH := const [major, minor] = process.versions.node.split(".").map(Number); \
	process.exit(major > 20 || (major === 20 && minor >= 19) ? 0 : 1)
LINT := cd tests/openapi && REDOCLY_SUPPRESS_UPDATE_NOTICE=true npx --no-install

# What a deployment would set, so that Django's deployment checks look at a deployment.
DEPLOYED := DEBUG=0 DATABASE_URL=postgresql://app@db.example.com/app BASE_URL=https://api.example.com \
	SECRET_KEY=only-for-the-deployment-checks-of-this-makefile-0123456789-abcdefghij \
	API_KEY_PEPPER=only-for-the-deployment-checks-of-this-makefile-0123456789-abcdefghij

# Says nothing unless the command fails.
define quietly
	@said=$$($(1) 2>&1) || { status=$$?; printf '%s\n' "$$said" >&2; exit $$status; }
endef

.PHONY: run test check clients font chromium hledger fuzz mutants bench load faults audit screenshots openapi rules clean

run: $(RUNS)
	@SIGN_UP=$${SIGN_UP:-open} $(BIN)/python manage.py up

# As many at once as there are processors; tests of one file stay together, for their servers are made once.
test: $(TESTS) chromium hledger check
	@$(BIN)/python -m pytest --numprocesses auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder

check: $(TESTS) openapi
	$(call quietly,$(BIN)/ruff check .)
	$(call quietly,$(BIN)/ruff format --check .)
	$(call quietly,$(BIN)/mypy .)
	$(call quietly,$(BIN)/lint-imports)
	$(call quietly,$(BIN)/python manage.py makemigrations --check --dry-run)
	$(call quietly,$(DEPLOYED) $(BIN)/python manage.py check --deploy --fail-level WARNING)
	$(call quietly,find templates -name '*.html' -exec $(BIN)/djade --check --target-version 5.2 {} +)
	$(call quietly,$(BIN)/codespell)
	@echo "Checked: style, types, imports, migrations, deployment settings, templates, spelling."

openapi: $(TESTS)
	@if ! command -v npm >/dev/null || ! node -e '$(NEW_ENOUGH)' 2>/dev/null; then \
		echo "There is no node 20.19 or newer with npm here: the OpenAPI document is not held against its rules."; \
	elif ! $(MAKE) --no-print-directory --silent $(RULES); then \
		echo "npm could not install the rules: the OpenAPI document is not held against them."; \
	else $(MAKE) --no-print-directory rules; fi

rules:
	$(call quietly,$(DEPLOYED) BASE_URL=https://finance.test $(BIN)/python manage.py spectacular --format openapi-json --validate --fail-on-warn --file tests/openapi/node_modules/openapi.json)
	$(call quietly,$(LINT) spectral lint --ruleset spectral.yaml --fail-severity warn node_modules/openapi.json)
	$(call quietly,$(LINT) redocly lint --config redocly.yaml node_modules/openapi.json)
	@echo "Checked: the OpenAPI document, by the rules of Spectral, OWASP and Redocly."

# What clients/python and clients/typescript lack in the repository; then pip and npm install them from there.
clients: $(TESTS)
	$(call quietly,$(DEPLOYED) $(BIN)/python manage.py spectacular --format openapi-json --file clients/openapi.json)
	@if command -v npm >/dev/null && node -e '$(NEW_ENOUGH)' 2>/dev/null; then \
		npm --prefix clients/typescript ci --silent --no-audit --no-fund --ignore-scripts; \
	else echo "There is no node 20.19 or newer with npm here: the client for TypeScript is not made."; fi
	$(call quietly,$(BIN)/python clients/build.py clients/openapi.json)
	$(call quietly,cd clients/python && ../../$(BIN)/mypy --strict --follow-imports silent --config-file /dev/null tidebook/*.py)
	@echo "Made: clients/python and clients/typescript, to be installed from there."

# The typeface, committed under static/fonts: cut down to the weights, letters and features that pages use. Of one width are
# figures alone: Inter's own feature spreads hyphens and blanks too, and so the words beside the figures.
FONT := @fontsource-variable/inter@5.3.0
FONTTOOLS := .venv/fonts/bin/fonttools
define FIGURES
import sys
from fontTools.ttLib import TTFont
font = TTFont(sys.argv[1])
figures = {font.getBestCmap()[ord(figure)] for figure in "0123456789"}
table = font["GSUB"].table
for record in table.FeatureList.FeatureRecord:
    for index in record.Feature.LookupListIndex if record.FeatureTag == "tnum" else []:
        for part in table.LookupList.Lookup[index].SubTable:
            part = getattr(part, "ExtSubTable", part)
            part.mapping = {name: wide for name, wide in part.mapping.items() if name in figures}
font.save(sys.argv[1])
endef
export FIGURES
font: | $(BIN)/python
	@[ -x $(FONTTOOLS) ] || { $(BIN)/python -m venv .venv/fonts && \
		.venv/fonts/bin/python -m pip install -qq --disable-pip-version-check fonttools==4.68.0 brotli==1.2.1; }
	@made=$$(mktemp -d) && trap 'rm -rf "$$made"' EXIT && \
	npm pack --silent --pack-destination "$$made" $(FONT) >/dev/null && tar -xzf "$$made"/*.tgz -C "$$made" && \
	for part in latin latin-ext; do \
		$(FONTTOOLS) varLib.instancer -q "$$made/package/files/inter-$$part-wght-normal.woff2" wght=400:600 \
			-o "$$made/$$part.ttf" || exit 1; \
	done && \
	.venv/fonts/bin/python -c "$$FIGURES" "$$made/latin.ttf" && \
	$(FONTTOOLS) subset "$$made/latin.ttf" --unicodes='*' --layout-features=kern,mark,mkmk,ccmp,locl,calt,tnum \
		--flavor=woff2 --output-file=static/fonts/inter-latin.woff2 && \
	$(FONTTOOLS) subset "$$made/latin-ext.ttf" --unicodes=U+0100-017F,U+0218-021B,U+1E9E \
		--layout-features=kern,mark,mkmk,ccmp,locl --flavor=woff2 --output-file=static/fonts/inter-latin-extended.woff2 && \
	cp "$$made/package/LICENSE" static/fonts/OFL.txt && echo "Made: static/fonts."

# The tests in a browser are skipped where there is none; that is no reason to fail here.
chromium:
	@command -v chromium-headless-shell >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing Chromium for the tests in a browser."; \
		{ $(APT) update && { $(APT) install -y --no-install-recommends chromium-headless-shell || \
			$(APT) install -y --no-install-recommends chromium; }; } >/dev/null 2>&1; \
	fi; \
	for name in chromium-headless-shell chromium chromium-browser google-chrome; do \
		command -v $$name >/dev/null && exit 0; \
	done; \
	echo "There is no Chromium here: the tests in a browser are skipped."

# It checks the journals that are exported; without it those tests are skipped.
hledger:
	@command -v hledger >/dev/null && exit 0; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing hledger for the tests of exports."; \
		{ $(APT) update && $(APT) install -y --no-install-recommends hledger; } >/dev/null 2>&1; \
	fi; \
	command -v hledger >/dev/null || echo "There is no hledger here: the tests of journals for it are skipped."

# Random requests, others each time: FUZZ of them for each operation, by each of two generators; and FUZZ histories of
# closed and reopened months.
FUZZ ?= 100
fuzz: $(TESTS)
	@FUZZ=$(FUZZ) $(BIN)/python -m pytest -q -s tests/api/test_fuzz.py tests/api/test_schemathesis.py \
		tests/ledger/closings/test_random_books.py

# Changes the arithmetic in thousands of small ways and counts those that no test notices: an hour on a quiet machine.
# MUTANTS='ledger.money.calc.money.*' tries some of them; .venv/mutants/bin/mutmut results names those that live.
mutants: | $(BIN)/python
	@[ -x .venv/mutants/bin/mutmut ] || { $(BIN)/python -m venv .venv/mutants && \
		.venv/mutants/bin/python -m pip install -qq --disable-pip-version-check -r tests/requirements.txt mutmut==3.8.1; }
	@.venv/mutants/bin/python -m mutmut run $(MUTANTS)

# One table of every ratio, each with its goal; nothing fails. Half an hour on a quiet machine.
bench: $(TESTS)
	@$(BIN)/python -m tests.bench

# One machine under a working day's mix of requests; COMPANIES=50 LARGEST=10000 SECONDS=20 make a small run of it.
load: $(TESTS)
	@$(BIN)/python -m tests.bench.working_day

# What is known of the pinned versions' weaknesses. It asks PyPI itself: mirrors have no advisories.
audit: | $(BIN)/python
	@[ -x .venv/audit/bin/pip-audit ] || { $(BIN)/python -m venv .venv/audit && \
		.venv/audit/bin/python -m pip install -qq --disable-pip-version-check pip-audit==2.10.1; }
	@.venv/audit/bin/pip-audit --strict --disable-pip --no-deps --requirement requirements.txt

# Screenshots of all pages except forms, into var/screenshots; with DOCS=1 those of the documentation, into docs/screenshots.
screenshots: $(TESTS) chromium
	@$(BIN)/python -m tests.browser.screenshots $(if $(DOCS),--docs)

# Many kills of workers, server and database in the middle of the work: make faults ROUNDS=50
ROUNDS ?= 20
faults: $(TESTS)
	@FAULT_ROUNDS=$(ROUNDS) $(BIN)/python -m pytest tests/faults

# The data in DATA_DIR stays.
clean:
	@rm -rf clients/openapi.json clients/python/tidebook/generated clients/typescript/dist clients/typescript/src/api.d.ts
	@rm -rf .venv mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache staticfiles
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(RUNS): requirements.txt | $(BIN)/python
	@echo "Installing what the service needs into .venv."
	@$(PIP) -r requirements.txt
	@touch $@

$(TESTS): tests/requirements.txt requirements.txt | $(BIN)/python
	@echo "Installing what the service and its tests need into .venv."
	@$(PIP) -r tests/requirements.txt
	@touch $(RUNS) $@

$(RULES): tests/openapi/package-lock.json
	@echo "Installing the rules for the OpenAPI document into tests/openapi/node_modules."
	@$(NPM) ci --silent --no-audit --no-fund --ignore-scripts
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Error: Python 3.11 or newer is needed, and $(PYTHON) is $$($(PYTHON) --version 2>&1 || true)." \
			"Install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "Error: $(PYTHON) cannot make virtual environments. On Debian: apt-get install python3-venv" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv
