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
  on_root 'mkdir -p datasets'
  example u1 snapshot.yaml attributes.yaml dataset-snapshot.yaml
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

# What is left of a dataset that was a snapshot: of its packer, and of its image.
of_sealing() {
  kubectl -n siphon get jobs,pvc,secrets -o name | grep siphon-pack- || true
  kubectl get pv,datasets -o name | grep -E 'siphon-pack-|/u1.training-v1$' || true
  lab run ceph auth ls 2>/dev/null | grep -E '^client.siphon-(packer|dataset)' || true
  on_root 'ls datasets | grep -E "^i[0-9a-v]{15}$" || true'
}

# on_root SCRIPT: in the root of the file system, as whoever mounts that.
on_root() {
  lab run bash -euo pipefail -c '
    at=$(mktemp -d)
    ceph-fuse --id admin --client_fs "$FS_NAME" "$at" >/dev/null 2>&1
    trap "umount -l $at; rmdir $at" EXIT
    cd "$at" && eval "$1"; cd /' bash "$1"
}

# packer_job JQ: a Job as the controller makes packers, changed by that.
packer_job() {
  kubectl -n siphon get podtemplate siphon-packer -o json | jq '{apiVersion: "batch/v1", kind: "Job",
    metadata: {name: "siphon-pack-x", namespace: "siphon"}, spec: {template: (.template
      | .spec.volumes += [{name: "source", persistentVolumeClaim: {claimName: "siphon-pack-x-source"}}])}} | '"$1" >"$LAB_RUN/packer.json"
}

# What the controller may not make, whoever has its token.
forged_packers() {
  step "what the controller may not make, and what it may"
  local change
  check_controller
  packer_job .
  as_controller create --dry-run=server -f "$LAB_RUN/packer.json" >/dev/null || failed "a packer"
  for change in '.spec.template.spec.priorityClassName = "system-node-critical"' '.spec.template.spec.securityContext.seccompProfile.type = "Unconfined"' \
    '.spec.template.spec.containers[0].securityContext |= (.privileged = true | .allowPrivilegeEscalation = true)' \
    'del(.spec.template.spec.containers[0].securityContext)' \
    '.spec.template.spec.imagePullSecrets = [{name: "siphon-ceph"}]' '.spec.template.spec.containers += [.spec.template.spec.containers[0] | .name = "b"]' \
    '.spec.template.spec.containers[0].env += [{name: "LD_PRELOAD", value: "/target/x"}]' '.spec.completions = 9' \
    '.spec.template.spec.containers[0].lifecycle.postStart.exec.command = ["id"]' '.spec.template.spec.serviceAccountName = "siphon-node"' \
    '.spec.template.spec.volumes += [{name: "root", hostPath: {path: "/"}}]' '.metadata.name = "siphon-pack-y"'; do
    packer_job "$change"
    refused "$change" 'siphon-packers' as_controller create --dry-run=server -f "$LAB_RUN/packer.json"
  done
  refused "a volume of a node's path" 'PersistentVolumes of cephfs.siphon.dev alone' as_controller create --dry-run=server -f - <<END
apiVersion: v1
kind: PersistentVolume
metadata: {name: root}
spec: {accessModes: [ReadWriteMany], capacity: {storage: 1Gi}, hostPath: {path: /}}
END
}

sealed_snapshot() {
  step "a snapshot that becomes a sealed dataset, which a claim shows"
  settles "the dataset" -n u1 --for=jsonpath='{.status.readyToUse}'=true volumesnapshot/training-v1
  succeeds u1 training-v1
  shows "dataset-snapshot.yaml" '^[0-9]{4,5}$' "$(kubectl -n u1 logs training-v1)"
  shows "it cannot be written" 'Read-only file system' "$(kubectl -n u1 logs training-v1)"
  shows "kubectl describe volumesnapshot" 'DatasetSealed .* is dataset u1.training-v1' "$(kubectl -n u1 describe volumesnapshot training-v1)"
  told "kubectl get datasets" '^u1.training-v1 +true .*\["u1"\]' kubectl get datasets
  a_dataset_claim u2 stolen u1/training-v1 | kubectl apply -f - >/dev/null
  inline_pod u2 stolen 'dataset: u1/training-v1' 'true'
  told "u2's claim" 'code = PermissionDenied desc = .*is no reader of dataset u1.training-v1' kubectl -n u2 describe pvc stolen
  told "u2's pod" 'code = PermissionDenied desc = .*is no reader of dataset u1.training-v1' kubectl -n u2 describe pod stolen
  kubectl -n u2 delete pod/stolen pvc/stolen >/dev/null
  expect "what is left of the packer" "" "$(of_sealing | grep pack)"
  kubectl -n u1 delete volumesnapshot training-v1 --wait=false >/dev/null
  told "its deletion" 'u1.training-v1 is in use by PersistentVolume pvc-' kubectl -n u1 describe volumesnapshot training-v1
  kubectl -n u1 delete pod/training-v1 pvc/training-v1 >/dev/null
  settles "its deletion" -n u1 --for=delete volumesnapshot/training-v1
  expect "what is left of it" "" "$(of_sealing)"
}
