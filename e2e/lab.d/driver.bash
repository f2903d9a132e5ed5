# Sourced by e2e/lab: the driver against the lab's cluster.
# shellcheck shell=bash

lab_driver() {
  case ${1:-start} in
    start) ;;
    stop) ;;
    *) usage ;;
  esac
  lab_enter "$HERE/lab.d/driver" "${1:-start}"
}
