# Siphon: see README.md. Every target installs what it needs, may be repeated, and leaves nothing running.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help
.PHONY: help need build test blackbox security-table chaos demo docker image release release-check kubernetes sanity kernel bench bench-dataset trace imagenet-count scale cluster-memory waves namespaces upgrade gpu-wait kueue-wait fuzz nightly slice lint docs published definitions format clean

# 20 (Tentacle) or 18 (Reef)
export CEPH_RELEASE ?= 20
export JAVA_HOME = $(shell e2e/lab.d/jdk)
# how long each fuzzer runs; `make nightly` gives it a minute
export FUZZ_SECONDS ?= 5
# how long `make fuzz` runs all parsers together
MINUTES ?= 120
# some classes of a suite, with commas between (`make blackbox ONLY=HomesIT,AccountsIT`); of csi-sanity, modes
ONLY ?=
# the most source files of a process in `make trace`
LIMIT ?=
comma := ,
MVN = mvn --batch-mode --no-transfer-progress -Dsiphon.fuzz.seconds=$(FUZZ_SECONDS)

help: ## lists the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## /\1\t/' | expand -t 16
	echo "CEPH_RELEASE=$(CEPH_RELEASE) (or 18), LAB_NAME tells labs apart: see e2e/lab"

need:
	@[[ -n "$$JAVA_HOME" ]] || exit 1
	e2e/lab.d/need maven python3

build: need ## builds the launcher deploy/target/siphon/bin/siphon, runs no test
	@echo "building, for some minutes where little has been built" >&2
	$(MVN) -q -Dsiphon.tests=false package

# Controller and node are tested beside each other, each on a Ceph of its own.
test: need ## unit tests, then integration tests on a real Ceph (LAB_NAME defaults to test)
	rm -rf {,*/}*/target/*-reports
	export LAB_NAME=$${LAB_NAME:-test}
	e2e/lab.d/with-lab --second $(MVN) verify -pl '!e2e' -T 2 -Dsiphon.node.java="$$PWD/e2e/second-lab-java/bin/java" \
	$(if $(ONLY),-Dtest='$(ONLY)$(comma)!*IT' -Dit.test='$(ONLY)$(comma)!*Test' -Dsurefire.failIfNoSpecifiedTests=false -Dfailsafe.failIfNoSpecifiedTests=false)
	e2e/lab.d/all-ran '$(ONLY)'

# The driver as a black box on a real Ceph; $(1) chooses among the tests. Those of other modules are not run.
BLACKBOX = export LAB_NAME=$${LAB_NAME:-test}; \
	rm -rf {,*/}*/target/failsafe-reports; \
	e2e/lab.d/with-lab --second $(MVN) verify -pl e2e -am -DskipUnits=true $(1) \
	-Dit.test='$(or $(ONLY),dev/siphon/e2e/**/*IT)' -Dfailsafe.failIfNoSpecifiedTests=false; \
	e2e/lab.d/all-ran '$(ONLY)'

blackbox: build ## the driver as a black box on a real Ceph: round trips, contents, concurrency, bad input, fencing, alerts
	e2e/lab.d/programs prometheus
	$(call BLACKBOX,-DexcludedGroups='containers|kernel|kubernetes|slow')

security-table: build ## writes the table of docs/explanation/isolation.md anew, from attacks on a real Ceph
	rm -f e2e/target/isolation-matrix.md
	export LAB_NAME=$${LAB_NAME:-test}
	e2e/lab.d/with-lab $(MVN) verify -pl e2e -am -DskipUnits=true -Dit.test=IsolationMatrixIT \
		-Dfailsafe.failIfNoSpecifiedTests=false || true
	e2e/security-table

chaos: build ## the driver as a black box, killed at every call it makes to Ceph, and with each daemon gone or hanging under load
	$(call BLACKBOX,-Dgroups=slow)

demo: build ## shows on a real Ceph what Siphon does: volumes, quotas, isolation, a dataset; then GPU placement
	e2e/demo

docker: build ## homes in containers of a plain Docker engine, csi-sanity with the driver in containers; ONLY=ContainersIT runs a class
	e2e/docker

sanity: build ## csi-sanity against controller and node, in attach and default mode; ONLY=kernel on a kernel that has CephFS
	e2e/sanity $(subst $(comma), ,$(ONLY))

image: build ## the container image IMAGE (default siphon:0.1.0) with driver and sidecars, by docker on BASE
	deploy/image

release: build ## the files of a release in target/release: image, chart, manifests, bill of materials, checksums; pushes nothing (deploy/release)
	deploy/release

release-check: build ## what `make release` makes: twice the same bytes; Helm reads the chart; Siphon and sidecars start in the image
	e2e/release-check

kubernetes: build ## installs the image on a real Kubernetes: claims, pods, refusals, what kubectl describe shows; ONLY=ClaimsIT,GatesIT runs these
	e2e/kubernetes

kernel: need ## the node and two nodes' volumes on kernels that have CephFS (user-mode Linux; GUEST_KERNEL=smp for two processors); ONLY=TwoNodesIT,NodeServiceIT runs these
	e2e/kernel

bench: build ## measures each RPC and the raw mgr commands beside it
	e2e/bench

bench-dataset: build ## a sealed dataset against loose files, over ceph-fuse and over a guest's kernel: first byte, fill, epochs
	e2e/bench-dataset

trace: build ## lists the source files that run for an RPC, or for a gated pod (ONLY=Gate); ONLY=CreateVolume LIMIT=22 fails above 22
	$(if $(filter Gate,$(ONLY)),LIMIT=$(LIMIT) e2e/trace-gate,e2e/trace $(if $(ONLY),--only='$(ONLY)') $(if $(LIMIT),--limit='$(LIMIT)'))

imagenet-count: build ## a dataset of ImageNet's 1,281,167 files, of 8 KB: sealed, attached, listed, sampled, filled, within memory; FILES=64000
	e2e/imagenet-count

scale: build ## what 1,000 accounts with 3 volumes each cost: provisioned, listed, left alone, audited
	e2e/scale

cluster-memory: build ## what controllers and a node hold on a real Kubernetes: 3,000 claims of 1,000 accounts, 200 datasets, 500 gated pods
	e2e/cluster-memory

waves: build ## WAVES of SIZE claims and pods on a real Kubernetes, up and down again, beside a driver that answers at once
	e2e/waves

namespaces: build ## 10,000 namespaces and 5,000 datasets on a real Kubernetes: what is published, how soon, at what cost
	e2e/namespaces

upgrade: build ## from the version of commit FROM to this one, on a real Kubernetes under pods that write and read
	e2e/upgrade

gpu-wait: build ## how long pods hold GPUs and wait for data: with the gate, without, and with loose files
	e2e/gpu-wait

kueue-wait: build ## how long jobs in a queue of Kueue hold quota and GPUs and wait for data
	e2e/kueue-wait

# Each parser is a @Test of a class of that name.
fuzz: need ## parsers of what others send, with bytes bent at random, MINUTES in all (120): inputs, most time and memory, heap
	rm -f {,*/}*/target/surefire-reports/*ParsingFuzzTest*
	parsers=$$(find {,*/}*/src/test -name '*ParsingFuzzTest.java' -exec cat {} + | grep -c @Test)
	nice -n 19 $(MVN) test -Dtest='*ParsingFuzzTest' -Dsurefire.failIfNoSpecifiedTests=false -Dmaven.test.failure.ignore \
		-Dsiphon.fuzz.parser.seconds=$$(( $(MINUTES) * 60 / parsers ))
	! find . -path '*/target/surefire-reports/TEST-*ParsingFuzzTest.xml' -exec grep -lE '<(failure|error|rerunFailure|rerunError)' {} + | grep .

nightly: need ## every suite, slice by slice (e2e/slices): hours
	FUZZ_SECONDS=60 e2e/suites nightly

slice: need ## the suites of some slices: make slice ONLY=core,chaos; e2e/suites names lists them
	e2e/suites slice $(subst $(comma), ,$(ONLY))

lint: need ## format, compiler checks, shellcheck, English, and the rules that no compiler knows
	$(MVN) -q spotless:check
	e2e/lint

docs: ## builds the site of docs/ in target/site, which is read from the disk; a link that leads nowhere fails
	@export NO_MKDOCS_2_WARNING=1 # it advertises otherwise
	"$$(e2e/lab.d/mkdocs)" build --strict --config-file e2e/site.d/mkdocs.yml
	echo "read target/site/index.html"

published: build ## writes down anew what CSI and the kubelet published, which our .proto files are tested against; needs Go
	csi-proto/published

definitions: need ## writes the chart's custom resources and docs/reference/fields.md anew, from their Java types; deploy/render then writes deploy/siphon.yaml
	$(MVN) -q test -pl controller/service -am -Dtest=CustomResourceDefinitionsTest -Dsurefire.failIfNoSpecifiedTests=false -Dsiphon.definitions.write=true

format: need ## formats the Java sources
	$(MVN) -q spotless:apply

clean: ## removes what was built; the lab's cached roots stay (~/.cache/siphon)
	find . -name target -type d -not -path './.git/*' -prune -exec rm -rf {} +
