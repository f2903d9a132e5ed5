# Sourced by functions.bash: deletions and restarts under pods, and what is left at the end.
# shellcheck shell=bash disable=SC2153,SC2016 # PROJECT and LAB_* come from functions.bash; scripts for pods

# Prints the mount points of CephFS on the node.
mounts() { lab run awk '$3 ~ /ceph/ { print $2 }' /proc/mounts; }

# siphon_in_pod ARGS...: runs an administrator's command where docs/how-to/operate.md says to run it.
siphon_in_pod() { kubectl -n siphon exec "$(leader)" -c siphon -- siphon "$@"; }

# Checks for leftovers of volumes once the last PersistentVolume is gone.
nothing_left() {
  local found
  expect "Secrets of volumes" "" "$(kubectl -n siphon get secrets -o 'jsonpath={.items[?(@.type=="siphon.dev/volume-key")].metadata.name}')"
  expect "subvolumes in Ceph" "" "$(lab run "$E2E/lab.d/subvolumes")"
  found=$(siphon_in_pod audit --json --pause 3) || failed "siphon audit: $found"
  expect "siphon audit finds" "" "$found"
}

uninstall() {
  local objects kinds=all,secrets,configmaps,csidrivers,storageclasses,clusterroles
  step "kubectl delete -k deploy/"
  kubectl delete -k "$LAB_RUN/deploy" --timeout=120s >/dev/null || { describe_all >&2; failed "it does not end"; }
  # kubectl lists nothing at all if it does not know one of the kinds
  ! kubectl get crd volumesnapshotclasses.snapshot.storage.k8s.io >/dev/null 2>&1 || kinds+=,volumesnapshotclasses
  objects=$(kubectl get "$kinds" -A -o name)
  expect "objects left" "" "$(grep -i siphon <<<"$objects" || true)"
  told "drivers of the node" '^$' kubectl get csinodes -o 'jsonpath={.items[0].spec.drivers[*].name}'
  expect "mounts left on the node" "" "$(mounts)"
  expect "keys left in Ceph" "" "$(lab ceph auth ls -f json | jq -r '.auth_dump[].entity | select(startswith("client.siphon."))')"
}
