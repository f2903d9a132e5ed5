# Sourced by e2e/kubernetes: an upgrade to the chart with snapshots, and what can be done then.
# shellcheck shell=bash disable=SC2153,SC2016 # PROJECT and LAB_* come from e2e/kubernetes; scripts for pods

# What the cluster's administrator brings: the custom resources, and the controller that all drivers share.
add_snapshots() {
  step "the chart with snapshots takes the place of the one without"
  kubectl apply --server-side -f "$LAB_KUBERNETES/crds" >/dev/null
  kubectl wait --for=condition=Established --timeout=60s crd/volumesnapshotclasses.snapshot.storage.k8s.io \
    crd/volumesnapshotcontents.snapshot.storage.k8s.io crd/volumesnapshots.snapshot.storage.k8s.io >/dev/null
  daemon snapshot-controller "$LAB_KUBERNETES/bin/snapshot-controller" --kubeconfig="$KUBECONFIG"
  chart --set snapshots=true --set-string volumeAttributesClasses.group-reads.mode=0750 >"$LAB_RUN/deploy/siphon.yaml"
  kubectl apply -k "$LAB_RUN/deploy" >/dev/null
}

# attributes CLASS: of u1's claim training, from now on.
attributes() {
  kubectl -n u1 patch pvc training -p "{\"spec\": {\"volumeAttributesClassName\": \"$1\"}}" >/dev/null
  settles "class $1" -n u1 --for=jsonpath='{.status.currentVolumeAttributesClassName}'="$1" pvc/training
}

snapshots() {
  step "a snapshot, a claim from it that another pod reads, and a limit on files"
  example u1 snapshot.yaml attributes.yaml
  attributes group-reads
  attributes few-files
  pod u1 limited training 10001 \
    'stat -c "mode %a" /data; i=0; while [ $i -lt 20000 ]; do touch /data/more-$i || exit 0; i=$((i + 1)); done; exit 1'
  settles "the snapshot" -n u1 --for=jsonpath='{.status.readyToUse}'=true volumesnapshot/training
  succeeds u1 restored
  shows "snapshot.yaml" 'goes on after epoch 10' "$(kubectl -n u1 logs restored)"
  succeeds u1 limited
  shows "attributes.yaml" 'quota exceeded' "$(kubectl -n u1 logs limited)"
  shows "the chart's class" '^mode 750$' "$(kubectl -n u1 logs limited)"
  kubectl -n siphon rollout status --timeout=120s deployment/siphon-controller >/dev/null
}
