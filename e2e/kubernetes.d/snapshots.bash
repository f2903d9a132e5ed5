# Sourced by e2e/kubernetes: an upgrade to the chart with snapshots, and what can be done then.
# shellcheck shell=bash disable=SC2153,SC2016 # PROJECT and LAB_* come from e2e/kubernetes; scripts for pods

chart() { "$LAB_KUBERNETES/bin/helm" template siphon "$PROJECT/deploy/chart" --namespace siphon --kube-version 1.36 "$@"; }

# What the cluster's administrator brings: the custom resources, and the controller that all drivers share.
add_snapshots() {
  step "the chart with snapshots takes the place of the one without"
  kubectl apply --server-side -f "$LAB_KUBERNETES/crds" >/dev/null
  kubectl wait --for=condition=Established --timeout=60s crd/volumesnapshotclasses.snapshot.storage.k8s.io \
    crd/volumesnapshotcontents.snapshot.storage.k8s.io crd/volumesnapshots.snapshot.storage.k8s.io >/dev/null
  daemon snapshot-controller "$LAB_KUBERNETES/bin/snapshot-controller" --kubeconfig="$KUBECONFIG"
  chart --set snapshots=true >"$LAB_RUN/deploy/siphon.yaml"
  kubectl apply -k "$LAB_RUN/deploy" >/dev/null
}

snapshots() {
  step "a snapshot, a claim from it that another pod reads, and a limit on files"
  example u1 snapshot.yaml attributes.yaml
  kubectl -n u1 patch pvc training -p '{"spec": {"volumeAttributesClassName": "few-files"}}' >/dev/null
  settles "the limit" -n u1 --for=jsonpath='{.status.currentVolumeAttributesClassName}'=few-files pvc/training
  pod u1 limited training 10001 \
    'i=0; while [ $i -lt 20000 ]; do touch /data/more-$i || exit 0; i=$((i + 1)); done; exit 1'
  settles "the snapshot" -n u1 --for=jsonpath='{.status.readyToUse}'=true volumesnapshot/training
  succeeds u1 restored
  shows "snapshot.yaml" 'goes on after epoch 20' "$(kubectl -n u1 logs restored)"
  succeeds u1 limited
  shows "attributes.yaml" 'quota exceeded' "$(kubectl -n u1 logs limited)"
  kubectl -n siphon rollout status --timeout=120s deployment/siphon-controller >/dev/null
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
