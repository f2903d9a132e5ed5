# Sourced by e2e/kubernetes: the chart with other values than its own.
# shellcheck shell=bash disable=SC2153 # PROJECT and LAB_* come from e2e/kubernetes

chart() { "$LAB_KUBERNETES/bin/helm" template siphon "$PROJECT/deploy/chart" --namespace siphon --kube-version 1.36 "$@"; }

# The example of docs/operations.md.
example_values() { awk '/^# values of the chart$/ { shown = 1 } /^```$/ { shown = 0 } shown' "$PROJECT/docs/operations.md"; }

# reads YAML: the API server, which makes nothing of it; prints what it read, an object in each line.
reads() { kubectl create --dry-run=server --validate=strict -o json -f "$1" | jq -c '.items[]? // .'; }

# In the lab no network keeps to policies: that they are what they should be is all that can be seen here.
values() {
  local read
  step "the chart with the values of docs/operations.md, as the API server reads it"
  chart --namespace default --set attach=true -f <(example_values) >"$LAB_RUN/chart.yaml"
  read=$(reads "$LAB_RUN/chart.yaml") || failed "it does not take that"
  expect "the controllers' policy" '["Ingress","Egress"] for 9810' \
    "$(jq -r 'select(.kind == "NetworkPolicy").spec | "\(.policyTypes | tojson) for \(.ingress[].ports[].port)"' <<<"$read")"
  expect "a range of ports in it" 6800-7568 \
    "$(jq -r 'select(.kind == "NetworkPolicy").spec.egress[].ports[] | select(.endPort) | .port, .endPort' <<<"$read" | paste -sd-)"
  expect "classes of attributes" "few-files quotaFiles=500,group-reads mode=0750" \
    "$(jq -r 'select(.kind == "VolumeAttributesClass")
      | "\(.metadata.name) \(.parameters | to_entries[] | "\(.key)=\(.value)")"' <<<"$read" | paste -sd,)"
  expect "parameters of both classes" "siphon of cephfs,siphon-home of cephfs" \
    "$(jq -r 'select(.kind == "StorageClass") | "\(.metadata.name) of \(.parameters.fsName)"' <<<"$read" | paste -sd,)"
  expect "how nodes are updated" OnDelete "$(jq -r 'select(.kind == "DaemonSet").spec.updateStrategy.type' <<<"$read")"
  expect "where nodes serve HTTPS" "9812 with siphon-http" "$(jq -r 'select(.kind == "DaemonSet").spec.template.spec
    | "\(.containers[0].env[] | select(.name == "SIPHON_HTTP_PORT").value) with \(.volumes[] | select(.name == "http").secret.secretName)"' <<<"$read")"
  if chart -f <(example_values | sed "s/, secretName: siphon-http//") >/dev/null 2>&1; then failed "HTTPS without a Secret"; fi
  if chart -f <(example_values | sed "s/'0750'/0750/") >/dev/null 2>"$LAB_RUN/log/strict.log"; then failed "a mode that is a number"; fi
  shows "a mode that is a number" 'needs quotation marks' "$(cat "$LAB_RUN/log/strict.log")"
  if chart --set-json 'node.cacheDirectories=[{"path": "/a/b", "size": "1Gi"}, {"path": "/a/b", "size": "1Gi"}]' >/dev/null 2>"$LAB_RUN/log/strict.log"; then failed "a directory twice"; fi
  shows "a directory twice" 'cacheDirectories has /a/b twice' "$(cat "$LAB_RUN/log/strict.log")"
  if chart --set ownr=x >/dev/null 2>"$LAB_RUN/log/strict.log"; then failed "a value that the chart does not have"; fi
  shows "a value that the chart does not have" "'ownr' not allowed" "$(cat "$LAB_RUN/log/strict.log")"
  sed -i 's/"endPort"/"lastPort"/' "$LAB_RUN/chart.yaml"
  if reads "$LAB_RUN/chart.yaml" >/dev/null 2>"$LAB_RUN/log/strict.log"; then failed "it takes a word that nobody knows"; fi
  shows "with another word" 'unknown field.*lastPort' "$(cat "$LAB_RUN/log/strict.log")"
}

# When no pod has a volume: what a CSIDriver says of attaching is for good.
attach() {
  step "the chart with attach takes its place: a pod's volume is attached, and detached"
  "$SIPHON" ceph-caps --fs "$FS_NAME" --attach --change | lab run bash -euo pipefail
  local pools='[{"name": "disks", "nodeSelector": {"siphon.test/disks": "some"}, "cacheDirectories": [
    {"path": "/var/lib/siphon/nvme0/cache", "size": "1Gi"}, {"path": "/var/lib/siphon/nvme9/cache", "size": "1Gi"}]}]'
  chart --set snapshots=true --set attach=true --set-json "node.pools=$pools" >"$LAB_RUN/deploy/siphon.yaml"
  kubectl delete csidriver cephfs.siphon.dev >/dev/null
  lab run mkdir -p /var/lib/siphon/nvme0/cache /var/lib/siphon/nvme9
  kubectl label nodes --all siphon.test/disks=some >/dev/null
  kubectl apply -k "$LAB_RUN/deploy" >/dev/null
  kubectl -n siphon rollout status --timeout=120s deployment/siphon-controller >/dev/null || { describe_all >&2; failed "the controllers' pods"; }
  kubectl -n siphon rollout status --timeout=120s daemonset/siphon-node-disks >/dev/null || { describe_all >&2; failed "the pool's node"; }
  expect "pods of nodes, by their pool" "siphon-node 0 of 0,siphon-node-disks 1 of 1" "$(kubectl -n siphon get daemonsets --sort-by=.metadata.name \
    -o 'jsonpath={range .items[*]}{.metadata.name} {.status.numberReady} of {.status.desiredNumberScheduled}{"\n"}{end}' | paste -sd,)"
  # the second disk is not there
  shows "the cache directory that is missing" 'nvme9/cache is missing: mount its disk' "$(kubectl -n siphon exec daemonset/siphon-node-disks -c siphon -- siphon cache list 2>&1)"
  shows "the node's event" 'CacheDirectoryUnusable' "$(kubectl get events --namespace default --field-selector involvedObject.kind=Node -o 'jsonpath={.items[*].reason}')"
  shows "the pool's cache directory" 'c0 +/var/lib/siphon/nvme0/cache' "$(kubectl -n siphon exec daemonset/siphon-node-disks -- siphon topology)"
  kubectl create namespace u5 >/dev/null
  claim u5 training 1Gi
  ticking u5 ticker training 10005
  told "the pod" '^tick' last_line u5 ticker
  expect "its volume is attached" "$(kubectl -n u5 get pvc training -o 'jsonpath={.spec.volumeName}') to $(kubectl -n u5 get pod ticker -o 'jsonpath={.spec.nodeName}'), true" \
    "$(kubectl get volumeattachments -o 'jsonpath={range .items[*]}{.spec.source.persistentVolumeName} to {.spec.nodeName}, {.status.attached}{end}')"
  on_root 'mkdir -p datasets'
  example u5 dataset-snapshot.yaml
  succeeds u5 training-v1
  expect "files of a sealed snapshot of it" 1 "$(kubectl -n u5 logs training-v1 | head -n 1)"
  expect "what is left of the packer" "" "$(of_sealing | grep pack)"
  kubectl -n u5 delete pod/training-v1 pvc/training-v1 volumesnapshot/training-v1 --timeout=60s >/dev/null
  kubectl delete namespace u5 --timeout=120s >/dev/null || { describe_all >&2; failed "the namespace does not end"; }
  kubectl wait --for=delete volumeattachments,pv --all --timeout=60s >/dev/null || { describe_all >&2; failed "the volume stays"; }
  echo "   with its pod it was detached, and went with its claim"
}

# The sidecars' flags with everything switched on, as they themselves understand them.
sidecars() {
  local program words
  step "the arguments of all sidecars"
  chart --set snapshots=true --set attach=true --show-only templates/controller.yaml |
    kubectl create --dry-run=client --validate=false -o json -f - |
    jq -r '(.items? // [.])[] | select(.kind == "Deployment") | .spec.template.spec.containers[]
      | select(.command[0] == "sidecar") | .command[1:] + .args | @tsv' >"$LAB_RUN/sidecars.tsv"
  while IFS=$'\t' read -ra words; do
    program=${words[0]}
    "$LAB_KUBERNETES/bin/$program" "${words[@]:1}" --version >/dev/null 2>"$LAB_RUN/log/$program.log" ||
      failed "$program does not take ${words[*]:1}: $(head -n 3 "$LAB_RUN/log/$program.log")"
    if "$LAB_KUBERNETES/bin/$program" "${words[@]:1}" --no-such-flag --version >/dev/null 2>&1; then
      failed "$program takes anything"
    fi
    echo "   $program takes ${#words[@]} words"
  done <"$LAB_RUN/sidecars.tsv"
  expect "sidecars" 4 "$(wc -l <"$LAB_RUN/sidecars.tsv")"
}
