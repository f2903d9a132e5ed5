# Sourced by e2e/kubernetes: what is deleted or restarted under pods, and what is left at the end.
# shellcheck shell=bash disable=SC2153,SC2016 # PROJECT and LAB_* come from e2e/kubernetes; scripts for pods

# ticking NAMESPACE NAME CLAIM UID: a pod that writes and reads every second, and says so or why not.
ticking() { pod "$1" "$2" "$3" "$4" 'while :; do echo tick >/data/tick && cat /data/tick; sleep 1; done 2>&1'; }

last_line() { kubectl -n "$1" logs "$2" --tail=1; }

# Where the node shows file systems of Ceph.
mounts() { lab run awk '$3 ~ /ceph/ { print $2 }' /proc/mounts; }

# Over ceph-fuse, as here, mounts end with the node's pod; docs/limitations.md says what is true then.
restart_node() {
  step "the node's pod is deleted under a pod that reads and writes"
  ticking u1 ticker data 10001
  told "the pod" '^tick' last_line u1 ticker
  shows "a mount on the node" '/globalmount$' "$(mounts)"
  kubectl -n siphon delete pod -l app.kubernetes.io/component=node >/dev/null
  told "the pod that runs" 'not connected' last_line u1 ticker
  pod u1 after data 10001 'cat /data/file && echo again >/data/tick'
}

# Ceph waits a minute for the client that died without a word before it gives another one what that held.
recover() {
  step "pods of that volume after it"
  succeeds u1 after
  expect "a new pod beside it reads" hello "$(kubectl -n u1 logs after)"
  shows "the pod that runs, still" 'not connected' "$(last_line u1 ticker)"
  kubectl -n u1 delete pod ticker >/dev/null
  ticking u1 ticker data 10001
  told "made anew, it" '^tick' last_line u1 ticker
}

delete_under_pods() {
  step "a claim and a namespace are deleted under running pods"
  local volume name group left
  kubectl create namespace u3 >/dev/null
  claim u3 data 1Gi
  ticking u3 ticker data 10003
  claim u1 kept 1Gi
  ticking u1 keeper kept 10001
  settles "u3's pod" -n u3 --for=condition=Ready pod/ticker
  settles "the other one" -n u1 --for=condition=Ready pod/keeper
  volume=$(kubectl -n u1 get pvc kept -o 'jsonpath={.spec.volumeName}')
  read -r name group < <(subvolume u1 kept)
  kubectl -n u1 delete pvc kept --wait=false >/dev/null
  kubectl delete namespace u3 --wait=false >/dev/null
  told "the claim" 'kept +Terminating' kubectl -n u1 get pvc kept
  expect "its pod goes on" still "$(kubectl -n u1 exec keeper -- sh -c 'echo still >/data/still && cat /data/still')"
  kubectl -n u1 delete pod keeper >/dev/null
  settles "the claim's volume" --for=delete "pv/$volume"
  left=$(lab run "$E2E/lab.d/subvolumes")
  if grep -qx "$group/$name" <<<"$left"; then failed "subvolume $group/$name is left"; fi
  echo "   with its pod the volume went"
  settles "namespace u3" --for=delete namespace/u3
}

# siphon_in_pod ARGS...: an administrator's command, where docs/operations.md says to run it.
siphon_in_pod() { kubectl -n siphon exec "$(leader)" -c siphon -- siphon "$@"; }

# Also of the controller that stands by: who is restarted again and again is started ever later.
restarts() {
  kubectl -n siphon get pods -l app.kubernetes.io/component=controller \
    -o 'jsonpath={.items[*].status.containerStatuses[?(@.name!="siphon")].restartCount}' | tr ' ' '\n' | sort -u
}

# Of volumes, once the last PersistentVolume is gone.
nothing_left() {
  local found
  expect "Secrets of volumes" "" "$(kubectl -n siphon get secrets -o 'jsonpath={.items[?(@.type=="siphon.dev/volume-key")].metadata.name}')"
  expect "subvolumes in Ceph" "" "$(lab run "$E2E/lab.d/subvolumes")"
  found=$(siphon_in_pod audit --json --pause 3) || failed "siphon audit: $found"
  expect "siphon audit finds" "" "$found"
}

remove() {
  expect "restarts of sidecars" 0 "$(restarts)"
  step "everything is deleted"
  kubectl -n u1 delete volumesnapshots --all >/dev/null
  kubectl delete namespace u1 u2 u7 vision --timeout=120s >/dev/null || { describe_all >&2; failed "the namespaces do not end"; }
  kubectl wait --for=delete pv --all --timeout=60s >/dev/null || { describe_all >&2; failed "a volume is left"; }
  siphon_in_pod home u1 --delete --yes
  nothing_left
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

# An API server may keep what it knew of a policy that is gone (kubernetes/kubernetes#130887).
install_again() {
  step "installed again: the policies hold, and Jobs may be created"
  kubectl apply -k "$LAB_RUN/deploy" >/dev/null
  packer_job .
  told "a packer that is more than that" 'siphon-packers.* one pod of one container' forged_job '.spec.completions = 9'
  forged_job . >/dev/null || failed "a packer"
  kubectl create job anybody --image=siphon.test/pause:1 --dry-run=server >/dev/null || failed "a Job of somebody else"
  kubectl delete -k "$LAB_RUN/deploy" --timeout=120s >/dev/null || { describe_all >&2; failed "it does not end"; }
}

# forged_job JQ: asks as the controller for the Job of packer_job, changed by that.
forged_job() {
  jq "$1" "$LAB_RUN/packer.json" | as_controller create --dry-run=server -f -
}
