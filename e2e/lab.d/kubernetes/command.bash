# Sourced: turns the programs of Kubernetes into daemons of a lab or of a guest (lab.d/daemon).

# command_of NAME ARGS...: writes a daemon of the lab that runs without the lab's environment.
command_of() {
  local name=$1
  {
    # every user of a container must be able to read what containerd unpacks
    printf '#!/bin/sh\numask 022\n'
    printf 'exec env -i PATH=%q HOME=/root' "$PATH"
    printf ' %q' "$@"
    echo
  } >"$LAB_RUN/daemon/$name"
  chmod 0755 "$LAB_RUN/daemon/$name"
}
