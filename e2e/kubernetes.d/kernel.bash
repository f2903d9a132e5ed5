# Sourced by e2e/kubernetes: a node whose kernel mounts CephFS, beside one that has ceph-fuse.
# shellcheck shell=bash disable=SC2016 # scripts for pods and guests

# What a pod sees at /data, and a line for each beat; a write that fails is the last one. The pod stays, since the kubelet
# asks after the volumes of pods that run.
BEATS='grep " /data " /proc/mounts; n=0; while n=$((n+1)); echo beat $n >>/data/beats; do echo beat $n; sleep 0.2; done; echo a write failed; sleep 600'

beats() { kubectl -n u1 logs heart --tail=1 | sed -n 's/^beat //p'; }

# awaits a beat later than the number of now.
beats_on() { # WHAT
  local before
  before=$(beats)
  for _ in {1..100}; do
    [[ $(beats) -le $before ]] || { echo "   $1: it goes on, beat $before and later"; return; }
    sleep 0.1
  done
  describe_all >&2
  failed "$1: no beat after $before"
}

node_pod() { kubectl -n siphon get pods -l app.kubernetes.io/component=node --field-selector "spec.nodeName=$1" -o 'jsonpath={.items[0].metadata.name}'; }

kernel_node() {
  local node old
  step "a second node, with a kernel that has CephFS"
  node=$(lab kubernetes join 1)
  kubectl -n siphon rollout status --timeout=180s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node's pod on $node"; }
  ON=$node pod u1 heart data 10001 "$BEATS"
  settles "a pod there" -n u1 --for=condition=Ready pod/heart
  told "what it has mounted" ' ceph ' kubectl -n u1 logs heart
  pod u1 other data 10001 'until grep -m1 beat /data/beats; do sleep 0.2; done'
  settles "a pod on the other node" -n u1 --for=jsonpath='{.status.phase}'=Succeeded pod/other
  expect "a pod on the other node, over ceph-fuse, reads" "beat 1" "$(kubectl -n u1 logs other)"

  user_namespaces "$node"

  step "the node's pod is restarted under it"
  old=$(node_pod "$node")
  kubectl -n siphon delete pod "$old" >/dev/null
  beats_on "while there is none"
  kubectl -n siphon rollout status --timeout=180s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node's new pod on $node"; }
  [[ $(node_pod "$node") != "$old" ]] || failed "$old is still there"
  beats_on "with a new one"
  expect "restarts of the pod" 0 "$(kubectl -n u1 get pod heart -o 'jsonpath={.status.containerStatuses[0].restartCount}')"

  step "Ceph shuts the node's client out"
  lab ceph tell "mds.$FS_NAME:0" client evict "client_metadata.hostname=$node" >/dev/null 2>&1
  told "kubectl describe pod" 'VolumeConditionAbnormal.*' kubectl -n u1 describe pod heart
  kubectl -n u1 delete pod heart --wait=false >/dev/null
  ON=$node pod u1 anew data 10001 'tail -n 1 /data/beats'
  settles "a pod that is started anew" -n u1 --for=jsonpath='{.status.phase}'=Succeeded pod/anew
  shows "it reads" '^beat' "$(kubectl -n u1 logs anew)"

  step "it is drained"
  kubectl drain "$node" --ignore-daemonsets --force --delete-emptydir-data --timeout=120s >/dev/null 2>&1 || { describe_all >&2; failed "the drain"; }
  told "what pods had mounted there" '^none$' mounted_in_guest
  kubectl delete node "$node" >/dev/null
  lab guest kill 1
}

mounted_in_guest() { lab guest 1 awk '$3 == "ceph" && $2 ~ "^/var/lib/kubelet/" { print $2; n++ } END { if (!n) print "none" }' /proc/mounts; }
