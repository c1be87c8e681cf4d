# Everything starts here. Each step does what is still missing, and nothing twice.

PROFILE ?= dev

.PHONY: help setup build demo test test-page test-llm prove install deb bench clean-data

help:
	@echo "make setup       bring what building and running need: packages, libraries, models, the demo recording"
	@echo "make demo        replay the demo recording into a memory and ask it (VIDEO=file, CAMERA=/dev/video0, SET=edge, PROFILE=release, SERVE=1: leaves its web page open)"
	@echo "make test        form, lints and tests"
	@echo "make test-page   the web page in a real browser (Debian's Chromium), over the demo recording"
	@echo "make test-llm    a real language model server (llama.cpp, built from source once: minutes) with a tiny random model"
	@echo "make prove       what is too long for make test, in parts that resume and add up"
	@echo "make bench       the benchmarks"
	@echo "make build       the release build: target/release/engramd"
	@echo "make install     put it into place (DESTDIR=, PREFIX=/usr)"
	@echo "make deb         Debian packages of the release build, into target/deb, installed into an empty root to try them"
	@echo "make clean-data  forget what the demo remembered"

setup:
	@scripts/setup.sh release

build: setup
	cargo build --locked --release

# The development build serves the demo: its dependencies are optimised, it is made sooner than a release build
# (benches/LEDGER.md), and `make test` needs it, too.
demo:
	@scripts/setup.sh $(PROFILE)
	@PROFILE="$(PROFILE)" VIDEO="$(VIDEO)" CAMERA="$(CAMERA)" SET="$(SET)" SERVE="$(SERVE)" scripts/demo.sh

test:
	@scripts/setup.sh dev tests
	@scripts/test.sh

# Another step than `make test`: it brings Chromium (350 MB).
test-page:
	@scripts/setup.sh dev page
	@python3 -B tests/browser/run.py

test-llm:
	@scripts/test_llm.sh

prove: setup
	@scripts/prove.sh

bench: setup
	cargo bench --locked

install: build
	@DESTDIR="$(DESTDIR)" PREFIX="$(PREFIX)" scripts/install.sh

deb: build
	@scripts/deb.sh
	@scripts/deb_test.sh

clean-data:
	rm -rf target/demo/data target/demo/replay.jsonl
