# Sourced: how the programs of Kubernetes become daemons of a lab or of a guest (lab.d/daemon).

# command NAME ARGS...: a daemon of the lab, without the lab's environment.
command_of() {
  local name=$1
  {
    # what containerd unpacks is for every user of a container
    printf '#!/bin/sh\numask 022\n'
    printf 'exec env -i PATH=%q HOME=/root' "$PATH"
    printf ' %q' "$@"
    echo
  } >"$LAB_RUN/daemon/$name"
  chmod 0755 "$LAB_RUN/daemon/$name"
}
