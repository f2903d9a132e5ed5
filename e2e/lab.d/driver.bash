# Sourced by e2e/lab: the driver against the lab's cluster.
# shellcheck shell=bash
lab_driver() { die "the launcher is not built yet"; }
