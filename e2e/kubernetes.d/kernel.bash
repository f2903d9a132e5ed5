# Sourced by functions.bash: a node whose kernel mounts CephFS, beside one with ceph-fuse.
# shellcheck shell=bash disable=SC2016 # scripts for pods and guests

# Prints the mount at /data and a line for each beat; stops at the first failed write. The pod stays, because the kubelet
# checks the volumes of running pods only.
BEATS='grep " /data " /proc/mounts; n=0; while n=$((n+1)); echo beat $n >>/data/beats; do echo beat $n; sleep 0.2; done; echo a write failed; sleep 600'

beats() { kubectl -n u1 logs heart --tail=1 | sed -n 's/^beat //p'; }

# Waits for a later beat than the current one.
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

# longest_pause BEAT: prints the longest pause after that beat, by the container's log.
longest_pause() {
  kubectl -n u1 logs heart --timestamps | jq -nRr --argjson after "$1" '
    [inputs | capture("^(?<time>[^.]+).* beat (?<beat>[0-9]+)$") | select((.beat | tonumber) >= $after) | .time + "Z" | fromdate]
    | [.[1:], .[:-1]] | transpose | map(.[0] - .[1]) | max'
}

node_pod() { kubectl -n siphon get pods -l app.kubernetes.io/component=node --field-selector "spec.nodeName=$1" -o 'jsonpath={.items[0].metadata.name}'; }

# Omits siphon-fuse, whose image changes only when somebody deletes its pod.
images_that_run() { kubectl -n siphon get pods -l 'app.kubernetes.io/component!=fuse' -o 'jsonpath={.items[*].spec.containers[*].image}' | tr ' ' '\n' | sort -u; }

# upgrade NODE TAG: changes to the image with that tag, as docs/how-to/operate.md says.
upgrade() {
  local old since claims=0 end=$((SECONDS + 180))
  step "an upgrade under it: another tag, kubectl apply -k, and claims all the while"
  old=$(node_pod "$1")
  since=$(beats)
  # no controller may start on the guest: it has one slow processor and leaves soon
  kubectl cordon "$1" >/dev/null
  sed -i "s/newTag: .*}/newTag: $2}/" "$LAB_RUN/deploy/kustomization.yaml"
  kubectl apply -k "$LAB_RUN/deploy" >/dev/null
  until kubectl -n siphon rollout status --timeout=1s deployment/siphon-controller >/dev/null 2>&1; do
    ((SECONDS < end)) || { describe_all >&2; failed "the controllers' new pods"; }
    claim u7 "meanwhile-$2-$((++claims))" 64Mi
  done
  kubectl -n siphon wait --for=delete --timeout=180s "pod/$old" >/dev/null || failed "$old is still there"
  beats_on "while the node's pod is replaced"
  kubectl -n siphon rollout status --timeout=180s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the nodes' new pods"; }
  beats_on "with a new one"
  shows "the longest pause of it since then, in seconds" '^1?[0-9]$' "$(longest_pause "$since")"
  expect "restarts of the pod" 0 "$(kubectl -n u1 get pod heart -o 'jsonpath={.status.containerStatuses[0].restartCount}')"
  expect "what runs now" "siphon:$2" "$(images_that_run)"
  settles "$claims claims that were made meanwhile" -n u7 --for=jsonpath='{.status.phase}'=Bound pvc --all
  shows "claims that were made meanwhile, all bound" '^[1-9]' "$claims"
}

mounted_in_guest() { lab guest 1 awk '$3 == "ceph" && $2 ~ "^/var/lib/kubelet/" { print $2; n++ } END { if (!n) print "none" }' /proc/mounts; }
