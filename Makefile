# The commands for people and CI. `make help` lists them.
SHELL := /bin/bash
.DEFAULT_GOAL := help

BUILD ?= .build
PYTHON ?= python3
# A single file without shared libraries, which starts sooner.
STATIC := -c release -Xswiftc -static-executable -Xlinker -lpng16 -Xlinker -lz -Xlinker -lm
ZOETROPE := .build-static/release/zoetrope
# The C library, from the same build.
LIBRARY := .build-static/lib
PREFIX ?= /usr/local
# zoetrope.h is the only place of the version. Tests compare its parts, the changelog and the manual pages with it.
VERSION = $(shell sed -n 's/^.define ZOETROPE_VERSION "\(.*\)"$$/\1/p' Sources/CZoetrope/zoetrope.h)
CORPUS ?= ../shared/corpus
# Tests take half the time with it (see the end of Package.swift). All commands set it, because they share builds.
export ZOETROPE_OPTIMIZE := 1
MEASURE ?= ../shared/tools/term_measure.py
PARTS ?= bytes,time,busy,ends,still
CHECK ?= ../shared/tools/check_corpus.py

.PHONY: help install build release demo test lint format fixtures conformance bench bench-stages bench-sweep \
	bench-info bench-recordings bench-terminal bench-scale bench-cache bench-pressure docs api-check \
	check-stills sanitize coverage fuzz differential mutations hostile soak kill-test controls clean

help: ## lists these commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

install: ## installs missing system packages with apt, if available
	@Scripts/install-dependencies.sh

build: install ## debug build
	swift build

release: install ## release build: library and the tool as one static file
	swift build $(STATIC) --scratch-path .build-static --product zoetrope

.PHONY: install-tool
install-tool: release ## installs the tool, manual pages and completions in PREFIX (default /usr/local)
	install -d "$(DESTDIR)$(PREFIX)/bin"
	@# Renamed into place, so that the tool can be started at any time.
	install -s -m 755 $(ZOETROPE) "$(DESTDIR)$(PREFIX)/bin/.zoetrope.new"
	mv -fT "$(DESTDIR)$(PREFIX)/bin/.zoetrope.new" "$(DESTDIR)$(PREFIX)/bin/zoetrope"
	Scripts/install-texts.sh $(ZOETROPE) "$(DESTDIR)$(PREFIX)/share"

.PHONY: check-completions
check-completions: build ## tests completions in bash, zsh and fish, if installed
	Scripts/check-completions.py $(BUILD)/debug/zoetrope

.PHONY: manual
manual: install ## writes the manual pages from the help of the commands
	ZOETROPE_WRITE_MANUAL=1 swift test --filter ManualTests

.PHONY: check-batch
check-batch: build ## extracts a tree of mixed files, and checks progress, summary, manifest and pixels: [FILES=500]
	Scripts/check-batch.py $(BUILD)/debug/zoetrope $(if $(findstring command,$(origin FILES)),$(FILES),500)

.PHONY: figures recording check-readme
figures: ## writes README's figures and chart from Benchmarks/RESULTS.md and WRITING.md
	python3 Benchmarks/figures.py

recording: release ## records the player in a terminal under Xvfb, for README
	Scripts/record-player.sh $(ZOETROPE) Examples/player.gif

check-readme: ## runs every command of README in a fresh clone: make check-readme [TOOL=a built zoetrope]
	Scripts/check-readme.py $(if $(TOOL),--tool "$(abspath $(TOOL))")

# The C ABI. The shared library is linked from an archive that is built with the tool's flags, so that the
# builds share all other modules.
ARCHIVE := .build-static/release/libZoetropeC.a
.PHONY: lib install-lib test-lib
lib: install ## builds the C library, shared and static, with the Swift runtime, in .build-static/lib/dist
	@Scripts/install-dependencies.sh gcc g++ binutils
	@# The archiver only adds objects, so those of a renamed file would stay.
	@rm -f $(ARCHIVE)
	swift build $(STATIC) --scratch-path .build-static --product ZoetropeC
	Scripts/link-library.sh $(ARCHIVE) $(LIBRARY)/dist

CONFIGURATIONS := lib/pkgconfig/zoetrope.pc lib/cmake/zoetrope/zoetrope-config.cmake \
	lib/cmake/zoetrope/zoetrope-config-version.cmake
install-lib: lib ## installs libzoetrope, zoetrope.h, pkg-config and CMake files in PREFIX (default /usr/local)
	install -d "$(DESTDIR)$(PREFIX)/lib/pkgconfig" "$(DESTDIR)$(PREFIX)/include"
	install -m 755 $(LIBRARY)/dist/libzoetrope.so.1 "$(DESTDIR)$(PREFIX)/lib/"
	ln -sf libzoetrope.so.1 "$(DESTDIR)$(PREFIX)/lib/libzoetrope.so"
	install -m 644 $(LIBRARY)/dist/libzoetrope.a "$(DESTDIR)$(PREFIX)/lib/"
	install -m 644 Sources/CZoetrope/zoetrope.h "$(DESTDIR)$(PREFIX)/include/"
	install -Dm 644 Sources/CZoetrope/zoetrope.supp "$(DESTDIR)$(PREFIX)/share/zoetrope/zoetrope.supp"
	install -d "$(DESTDIR)$(PREFIX)/lib/cmake/zoetrope"
	for file in $(CONFIGURATIONS); do \
	  sed 's|@VERSION@|$(VERSION)|' "Sources/CZoetrope/$${file##*/}.in" >"$(DESTDIR)$(PREFIX)/$$file"; done
	@# Update the loader's cache, if permitted.
	@[ -n "$(DESTDIR)" ] || ldconfig 2>/dev/null || :
	@case "$(PREFIX)" in /usr|/usr/local) ;; *) \
	  echo "link with -Wl,-rpath,$(PREFIX)/lib, or run programs with LD_LIBRARY_PATH=$(PREFIX)/lib" ;; esac

.PHONY: uninstall-lib
uninstall-lib: ## removes what install-lib installed in PREFIX
	cd "$(DESTDIR)$(PREFIX)" && rm -f lib/libzoetrope.so.1 lib/libzoetrope.so lib/libzoetrope.a include/zoetrope.h \
	  share/zoetrope/zoetrope.supp $(CONFIGURATIONS)
	cd "$(DESTDIR)$(PREFIX)" && { rmdir lib/cmake/zoetrope share/zoetrope 2>/dev/null || :; }

test-lib: lib ## runs the tests and sample of the C ABI: make test-lib [WITH="plain address valgrind"]
	@# valgrind's report needs symbol names.
	KEEP_SYMBOLS=1 Scripts/link-library.sh $(ARCHIVE) $(LIBRARY)/symbols
	Scripts/test-library.sh $(LIBRARY)/symbols $(if $(findstring command,$(origin WITH)),$(WITH),plain)

.PHONY: wheel dist check-dist test-python check-python bench-python bench-python-writers cluster
wheel: lib ## builds the Python package dist/zoetrope-*.whl
	$(PYTHON) Python/build_zoetrope.py dist

dist: release lib ## builds what a release offers for download: dist/ with tool, .deb, C library, wheel and SHA256SUMS
	Scripts/notices.sh .build-static >$(LIBRARY)/dist/THIRD-PARTY.txt
	$(PYTHON) Python/build_zoetrope.py dist
	Scripts/dist.sh $(VERSION) dist

check-dist: ## installs, runs and removes the files of `make dist` on a bare Debian: [SUITE=trixie] [ROOT=dir] [CORPUS=dir]
	$(if $(findstring command,$(origin CORPUS)),IMAGES="$(CORPUS)/files") SUITE=$(or $(SUITE),bookworm) Scripts/test-dist.sh dist $(ZOETROPE) $(ROOT)

# Not part of `swift test`: it needs the release library, which takes minutes to build.
test-python: ## runs the Python tests with the library of `make lib`, or those of writers after `make test-lib`: [WITH=valgrind]
	@Scripts/test-python.sh $(PYTHON) $(LIBRARY)/$(if $(filter valgrind,$(WITH)),symbols,dist)/libzoetrope.so.1 $(filter valgrind,$(WITH))

check-python: wheel release ## compares pixels and times from Python with the tool's: make check-python [CORPUS=dir]
	ZOETROPE_LIBRARY=$(LIBRARY)/dist/libzoetrope.so.1 PYTHONPATH=Python $(PYTHON) Python/benchmarks/check_corpus.py $(ZOETROPE) $(CORPUS)

bench-python: lib ## benchmarks Python against Pillow, imageio, OpenCV, PyAV and torchcodec: make bench-python FILES="a.gif ..."
	ZOETROPE_LIBRARY=$(LIBRARY)/dist/libzoetrope.so.1 PYTHONPATH=Python $(PYTHON) Python/benchmarks/compare_readers.py $(FILES)

bench-python-writers: lib ## compares writing from Python with Pillow, imageio and pygifsicle: time, bytes, errors: [FILES="a.gif ..."]
	ZOETROPE_LIBRARY=$(LIBRARY)/dist/libzoetrope.so.1 PYTHONPATH=Python $(PYTHON) Python/benchmarks/compare_writers.py $(FILES)

cluster: lib ## runs Examples/Cluster on Dask and Ray, and kills a worker: [COUNT=10000] [ENGINES=dask] [JOBS=resize]
	ZOETROPE_LIBRARY="$(CURDIR)/$(LIBRARY)/dist/libzoetrope.so.1" PYTHONPATH="$(CURDIR)/Python" $(PYTHON) Examples/Cluster/check.py \
	  --count $(if $(findstring command,$(origin COUNT)),$(COUNT),10000) --engines $(or $(ENGINES),dask ray) --jobs $(or $(JOBS),read resize) -- $(CORPUS)

demo: release ## runs the tool on fixtures: information, frames as PNG, a report
	@Scripts/demo.sh $(ZOETROPE)

test: install ## runs all tests
	swift test
	@Scripts/test-python.sh $(PYTHON) $(LIBRARY)/dist/libzoetrope.so.1

.PHONY: test-busy
test-busy: install ## runs the Swift tests with one busy loop per processor: make test-busy [LOOPS=8]
	$(if $(LOOPS),LOOPS=$(LOOPS)) Scripts/busy.sh swift test

lint: ## checks formatting, naming and docs of public symbols
	swift format lint --strict --recursive Package.swift Sources Tests Examples Fuzz/Package.swift Fuzz/Sources

format: ## formats the sources in place
	swift format --in-place --recursive Package.swift Sources Tests Examples

fixtures: install ## compiles Fixtures/Recipes into the committed animations
	swift run zoetrope-fixtures

conformance: release ## compares every frame with a browser's: make conformance CORPUS=dir
	python3 $(CHECK) $(CORPUS) $(ZOETROPE)

bench: install ## benchmarks against the peers, and writes Benchmarks/RESULTS.md
	$(MAKE) -C Benchmarks bench CORPUS="$$(realpath -m "$(CORPUS)")"

bench-sweep: install ## compares every file over 0.3 ms with giflib and libpng: [CORPUS=dir]
	$(MAKE) -C Benchmarks sweep CORPUS="$$(realpath -m "$(CORPUS)")"

bench-terminal: release ## compares the player with chafa and timg: bytes, lateness, memory, similarity
	MEASURE=$(abspath $(MEASURE)) python3 Benchmarks/compare_players.py $(ZOETROPE) --groups $(PARTS) --output Benchmarks/TERMINAL.md
	MEASURE=$(abspath $(MEASURE)) python3 Benchmarks/check_screens.py $(ZOETROPE)

.PHONY: check-browsers
check-browsers: build ## compares the predictions of explain with Firefox and Chromium, if installed
	Scripts/check-browsers.py $(BUILD)/debug/zoetrope

check-stills: release ## checks screenshots of stills in kitty, foot, xterm, tmux and screen: make check-stills [RUNS=50]
	python3 Benchmarks/check_stills.py $(ZOETROPE) --runs $(or $(RUNS),50)

bench-stages: install ## fails if a stage of decoding is more than a tenth slower than its stored ratio
	$(MAKE) -C Benchmarks stages

.PHONY: check-previews
check-previews: release ## tests Examples/Previews in file managers and terminals: make check-previews [ROUNDS=10] [IN=lf/kitty]
	python3 Benchmarks/check_previews.py $(ZOETROPE) --rounds $(if $(findstring command,$(origin ROUNDS)),$(ROUNDS),10) $(if $(IN),--in $(IN))

bench-recordings: install ## benchmarks the screen recordings of a corpus on one core: make bench-recordings [CORPUS=dir]
	$(MAKE) -C Benchmarks recordings CORPUS="$$(realpath -m "$(CORPUS)")"

bench-info: install ## compares info with gifsicle and Pillow on 100 MB and tiny files: [FILES="a.gif ..."]
	$(MAKE) -C Benchmarks info FILES="$(if $(findstring command,$(origin FILES)),$(abspath $(FILES)))"

bench-scale: install ## compares scaling with Pillow and libswscale: speed and quality
	$(MAKE) -C Benchmarks scale

bench-cache: install ## benchmarks cache hits, random access and stepping back within 64 MiB
	$(MAKE) -C Benchmarks cache

bench-pressure: install ## tests a cache that is too large for its control group; needs root
	$(MAKE) -C Benchmarks pressure

docs: install ## builds the documentation site in .build/docs/site; fails on a broken link
	BUILD=$(BUILD) Scripts/docs.sh

SERVER := .build-frame-server
READER := .build-http-reader
.PHONY: examples
examples: install ## builds the example packages (fetches Hummingbird and AsyncHTTPClient) and tests them over loopback
	swift build --scratch-path "$(BUILD)" --product zoetrope
	swift build -c release --package-path Examples/FrameServer --scratch-path "$(CURDIR)/$(SERVER)"
	python3 Scripts/frame-server.py $(SERVER)/release/frame-server $(BUILD)/debug/zoetrope
	swift build --package-path Examples/HTTPReader --scratch-path "$(CURDIR)/$(READER)"
	python3 Scripts/http-reader.py $(READER)/debug/http-frames $(BUILD)/debug/zoetrope

.PHONY: api-baseline
api-check: install ## fails if the public API lost or changed anything since the last release, whose API is in API/
	@BUILD=$(BUILD) Scripts/api-check.sh

api-baseline: install ## writes API/: the public symbols of the three libraries
	@BUILD=$(BUILD) Scripts/api-check.sh --write

WITH ?= address thread
sanitize: install ## runs the tests under sanitizers: make sanitize [WITH=address] [FOLDERS="Scaling ..."] [FILTER=regex]
	FOLDERS="$(FOLDERS)" FILTER="$(FILTER)" SKIP="$(SKIP)" Scripts/sanitize.sh $(WITH)

FROM ?= tests
coverage: install ## reports line coverage by folder: make coverage [FROM=corpora] [LIST=--list]
	Scripts/coverage.sh $(FROM) $(LIST)

TIME ?= 60
TARGET ?=
fuzz: install ## runs the fuzzers: make fuzz TIME=seconds-for-each [TARGET="FuzzScan ..."]
	Scripts/fuzz.sh $(TIME) $(TARGET)

COUNT ?= 1000000
FIRST ?= 0
FORMATS ?= gif,apng
differential: install ## compares the fast decoders with giflib and libpng: make differential COUNT=inputs [FORMATS=apng] [CORPUS=dir]
	FORMATS="$(FORMATS)" Scripts/differential.sh $(COUNT) $(FIRST) $(if $(findstring command,$(origin CORPUS)),$(CORPUS))

# Programs that check for hours, from the build of the tool.
PROGRAM := ZOETROPE_PROGRAMS=1 swift build $(STATIC) --scratch-path .build-static --product
SOAK := .build-static/release/soak
.PHONY: soak-program programs
soak-program: install
	$(PROGRAM) soak

programs: install ## compiles the benchmarks, which nothing else in CI does, from the build of the tests
	ZOETROPE_PROGRAMS=1 swift build

PLACES ?= 300
MUTATED ?= $(wildcard Fixtures/GIF/* Fixtures/APNG/* Fixtures/Bad/* Fixtures/Demo/*)
mutations: install ## truncates files and flips bytes at PLACES positions each: make mutations [CORPUS=dir] [PLACES=N]
	$(PROGRAM) mutate
	.build-static/release/mutate $(PLACES) $(if $(findstring command,$(origin CORPUS)),$(wildcard $(CORPUS)/*),$(MUTATED))

hostile: release ## tests hostile files, each within 64 MB and one second
	python3 Scripts/hostile.py $(ZOETROPE)

CYCLES ?= 100000
STREAMS ?=
soak: soak-program ## starts, controls and drops players at random, and checks for leaks: make soak CYCLES=N, or STREAMS=N
	$(SOAK) $(if $(STREAMS),streams $(STREAMS),$(CYCLES))

OPERATIONS ?= 1000000
controls: soak-program ## controls players at random, and checks that time never goes back: make controls OPERATIONS=N
	$(SOAK) controls $(OPERATIONS)

ROUNDS ?= 1000
kill-test: release ## kills extractions at random moments, ROUNDS times
	Scripts/kill-test.sh $(ROUNDS) $(ZOETROPE)

.PHONY: store-test
store-test: install ## tests a frame store under load and kills: make store-test [KILLS=2000] [SECONDS=60]
	swift build $(STATIC) --scratch-path .build-static --product table-churn
	Scripts/store-test.sh $(or $(KILLS),2000) $(or $(SECONDS),60) .build-static/release/table-churn

clean:
	rm -rf .build .build-*
