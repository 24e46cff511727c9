# make demo            the card of a small model, on a new machine
# make card MODEL=...  the card of your model
# make test            all tests, linters and type checks
# make pytest ENV=.venv/3.13 PYTHON=python3.13     the tests with another Python, in its own environment
# make pytest-lowest   the tests with the lowest allowed version of each dependency; runs also with the lowest onnxruntime
# make test-browser    diagrams and pages in a browser (Debian: installs Chromium and node)
# make gallery         write the cards of docs/gallery again
# make fuzz            hostile files, mutants, kills, comparison with protobuf, coverage-guided: two hours;
#                      MUTANTS=, KILLS=, DIFFERENTIAL=, SECONDS= for less
PYTHON ?= python3
ENV := .venv
RUN := $(ENV)/bin/onnx-autodoc
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
debian = { $(SUDO) apt-get update -qq && $(SUDO) apt-get install -y -qq --no-install-recommends $(1); } > /dev/null
install_lowest = $(ENV)/lowest/bin/uv pip install --quiet --python $(ENV)/lowest --resolution lowest-direct -e '.[dev,nvidia,pdf,png,run]'
REFERENCES := 'onnx>=1.23' 'onnxruntime>=1.31' # results of runs and of the specification, which tests compare with
CARD = $(basename $(notdir $(MODEL))).card

.PHONY: demo card fuzz test test-browser browser pictures gallery vendor lint types pytest pytest-lowest system corpus bench scoreboard schema docs typical accuracy clean

demo: $(ENV)/installed
	@$(RUN) demo -o demo.card
	@echo "Written: demo.card/ ($$(ls -m demo.card))"

card: $(ENV)/installed
	@test -n "$(MODEL)" || { echo "MODEL is not set: make card MODEL=path/to/model.onnx" >&2; exit 2; }
	@$(RUN) card "$(MODEL)"
	@$(RUN) card "$(MODEL)" -o "$(CARD)"
	@echo "Written: $(CARD)/ ($$(ls -m "$(CARD)"))"

test: lint types pytest

lint: $(ENV)/developing
	$(ENV)/bin/ruff check .
	$(ENV)/bin/ruff format --check .

types: $(ENV)/developing
	$(ENV)/bin/mypy

pytest: $(ENV)/developing
	$(ENV)/bin/pytest -n auto

pytest-lowest: system
	@test -x $(ENV)/lowest/bin/uv || $(PYTHON) -m venv $(ENV)/lowest
	@$(ENV)/lowest/bin/pip install --quiet --disable-pip-version-check uv
	@$(install_lowest)
	$(ENV)/lowest/bin/pytest -n auto tests/runtime tests/cli tests/api
	@$(install_lowest) $(REFERENCES)
	$(ENV)/lowest/bin/pytest -n auto

test-browser: $(ENV)/developing browser
	$(ENV)/bin/pytest -m browser tests/browser

pictures: $(ENV)/developing browser
	$(ENV)/bin/python -m scripts.pictures $(MODELS)

gallery: $(ENV)/developing browser
	$(ENV)/bin/python -m scripts.gallery

vendor:
	sh scripts/vendor/build.sh

browser: $(ENV)/browser/ready
	@command -v chromium > /dev/null || command -v google-chrome > /dev/null || $(call debian,chromium fonts-dejavu-core)

$(ENV)/browser/ready: tests/browser/package.json
	@command -v npm > /dev/null || $(call debian,nodejs npm)
	@mkdir -p $(@D) && cp $< $(@D)/
	@npm install --prefix $(@D) --no-package-lock --ignore-scripts --no-audit --no-fund --loglevel=error > /dev/null
	@touch $@

fuzz: $(ENV)/fuzzing
	$(ENV)/bin/python -m fuzz.run --hostile --mutants $(or $(MUTANTS),20000) --jobs $(or $(JOBS),2)
	$(ENV)/bin/python -m fuzz.json_readers
	$(ENV)/bin/python -m fuzz.kill $(or $(KILLS),200)
	$(ENV)/bin/python -m fuzz.differential $(or $(DIFFERENTIAL),1000000) --jobs $(or $(JOBS),2)
	$(ENV)/bin/python -m fuzz.reader --seconds $(or $(SECONDS),3600)

bench: $(ENV)/developing
	$(ENV)/bin/python -m benchmarks.run

scoreboard: $(ENV)/developing
	$(ENV)/bin/python -m benchmarks.scoreboard $(if $(FRESH),--fresh)

schema: $(ENV)/developing
	for what in card comparison policy verdict; do $(RUN) schema $$what > src/onnx_autodoc/schema/$$what-1.json || exit; done

docs: $(ENV)/developing
	$(ENV)/bin/python -m scripts.costs_page > docs/costs.md
	$(ENV)/bin/python -m scripts.rules_page > docs/rules.md
	$(ENV)/bin/python -m scripts.operators_data > operators.json.new && mv operators.json.new src/onnx_autodoc/data/operators.json
	$(ENV)/bin/python -m scripts.devices_data > devices.json.new && mv devices.json.new src/onnx_autodoc/data/devices.json
	$(ENV)/bin/python -m scripts.devices_page > docs/devices.md
	$(ENV)/bin/python -m scripts.accuracy_page > docs/accuracy.md

accuracy: $(ENV)/developing
	$(ENV)/bin/python -m benchmarks.accuracy

typical: $(ENV)/developing
	$(ENV)/bin/python -m scripts.typical

$(ENV)/installed: pyproject.toml
	@test -x $(ENV)/bin/python || $(PYTHON) -m venv $(ENV)
	@$(ENV)/bin/pip install --quiet --disable-pip-version-check -e .
	@$(ENV)/bin/python -m compileall -q src
	@touch $@

system:
	@command -v strace > /dev/null || $(call debian,strace)
	@ldconfig -p | grep -q libpangoft2 && ldconfig -p | grep -q libharfbuzz-subset || $(call debian,libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0)

$(ENV)/developing: pyproject.toml | system
	@test -x $(ENV)/bin/python || $(PYTHON) -m venv $(ENV)
	@$(ENV)/bin/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@$(ENV)/bin/python -m compileall -q src
	@touch $@ $(ENV)/installed

$(ENV)/fuzzing: $(ENV)/developing
	@$(ENV)/bin/pip install --quiet --disable-pip-version-check -e '.[fuzz]'
	@touch $@

clean:
	rm -rf $(ENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis demo.card build dist

corpus: $(ENV)/developing
	$(ENV)/bin/python tests/data/corpus/get.py .corpus
