# Sourced by e2e/kubernetes: datasets that an administrator declares, and who reads them.
# shellcheck shell=bash disable=SC2016,SC2119,SC2120 # scripts for the lab's shell; e2e/gpu-wait has one to seal

# seal_a_dataset [SCRIPT]: what that makes in a folder, as an administrator does with a client that sees the whole file system.
# Prints the object that declares it.
seal_a_dataset() {
  local fifty='mkdir one two; for n in {1..50}; do head -c $((n * 1000)) /dev/urandom >"one/$n"; done; echo seven >two/7'
  lab run bash -euo pipefail -c '
    at=$(mktemp -d)
    ceph-fuse --id admin --client_fs "$FS_NAME" "$at" 2>/dev/null >/dev/null
    trap "umount -l $at; rmdir $at" EXIT
    mkdir "$at/source"
    (cd "$at/source" && eval "$2")
    "$1" dataset seal --name u2/digits --mount "$at" --fs-name "$FS_NAME" --source "$at/source" --reader u2
    rm -rf "$at/source"' bash "$SIPHON" "${1:-$fifty}"
}

a_dataset_claim() { # NAMESPACE NAME DATASET
  cat <<END
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $2, namespace: $1, annotations: {siphon.dev/dataset: $3}}
spec: {storageClassName: siphon, accessModes: [ReadOnlyMany], resources: {requests: {storage: 1Gi}}}
END
}

declare_digits() { # READERS
  jq --argjson readers "$1" '.spec.readers = $readers' <<<"$SEALED" | kubectl apply -f - >/dev/null
}

# Runs after `own`: namespace vision lists u3, who is a reader; u1 is none.
datasets() {
  step "a dataset that its readers name in an annotation"
  SEALED=$(seal_a_dataset)
  declare_digits '["u2", "u3"]'
  told "kubectl get datasets" '^u2.digits +true +/datasets/u2.digits +[0-9]+ +\["u2","u3"\]' kubectl get datasets -o wide
  local readers
  for readers in u2 vision; do
    a_dataset_claim "$readers" digits u2/digits | kubectl apply -f - >/dev/null
    pod "$readers" reader digits 10002 'cat /data/two/7; ls /data/one | wc -l; touch /data/new 2>&1'
  done
  a_dataset_claim u1 digits u2/digits | kubectl apply -f - >/dev/null
  settles "the claims" -n u2 --for=jsonpath='{.status.phase}'=Bound pvc/digits
  told "u1, who is no reader" 'code = PermissionDenied desc = .*is no reader of dataset u2.digits' kubectl -n u1 describe pvc digits
  for readers in u2 vision; do
    told "a pod of $readers" 'Read-only file system' kubectl -n "$readers" logs reader
    expect "it reads" "seven 50" "$(kubectl -n "$readers" logs reader | sed -n '1,2p' | paste -sd ' ')"
  done
  expect "volumes of two claims" 2 "$(kubectl get pv -o json | jq -r '.items[].spec.csi.volumeHandle | select(startswith("dataset:"))' | sort -u | wc -l)"

  used_on_nodes
  named_by_pods

  step "a reader is taken away"
  declare_digits '["u2"]'
  told "a new pod of vision" 'code = PermissionDenied desc = .*is no reader of the dataset' late_reader
  kubectl -n vision delete pod late reader --wait=false >/dev/null
  kubectl -n u1 delete pvc digits --wait=false >/dev/null
  kubectl -n u2 delete pod reader >/dev/null
  kubectl -n u2 delete pvc digits >/dev/null
  kubectl -n vision delete pvc digits >/dev/null
  kubectl delete dataset u2.digits >/dev/null
  expect "of a dataset that is no more, a pod that has it" seven "$(kubectl -n u2 exec named -- cat /data/two/7)"
  expect "its identity, while a pod has it" 1 "$(dataset_identities)"
  kubectl -n u2 delete pod named >/dev/null
  told "its identity" '^0$' dataset_identities
  told "what is asked" '^No resources found' kubectl get datasetaccesses -A
  told "mounts of images" '^0$' images_mounted
}

# Two fields: no claim, no PersistentVolume, no Secret.
inline_pod() { # NAMESPACE NAME ATTRIBUTES SCRIPT, on node $ON or any, as $AS or 10002
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1}
spec:
  restartPolicy: Never
  ${ON:+nodeName: $ON}
  terminationGracePeriodSeconds: 1
  securityContext: {runAsUser: ${AS:-10002}, runAsGroup: ${AS:-10002}}
  containers:
    - name: main
      image: siphon.test/pause:1
      imagePullPolicy: Never
      command: [sh, -c, $(jq -Rs . <<<"$4")]
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, csi: {driver: cephfs.siphon.dev, volumeAttributes: {$3}}}]
END
}

# who_uses: pods of u2.digits, and NODE PODS NAMESPACES.
who_uses() {
  kubectl get dataset u2.digits -o 'jsonpath={.status.pods}{range .status.nodes[*]} {.name} {.pods} {.namespaces}{end}'
}

# A claim's pod of one namespace and one of another that names the dataset; those before have ended, and count no more.
used_on_nodes() {
  step "who uses a dataset, and where"
  local node
  node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
  told "whom it has before" '^0$' who_uses
  pod vision staying digits 10002 'exec sleep 600'
  inline_pod u2 naming 'dataset: u2/digits' 'exec sleep 600'
  settles "its pods" -n vision --for=condition=Ready pod/staying
  settles "its pods" -n u2 --for=condition=Ready pod/naming
  told "while they are there" "^2 $node 2 \\[\"u2\",\"vision\"\\]\$" who_uses
  shows "kubectl get datasets" '^u2.digits .* 2 +[0-9ms]+$' "$(kubectl get datasets --no-headers)"
  kubectl -n vision delete pod staying >/dev/null
  kubectl -n u2 delete pod naming >/dev/null
  told "and when they are gone" '^0$' who_uses
}

# Runs before `datasets` takes the dataset away again.
named_by_pods() {
  step "a dataset that pods name themselves"
  inline_pod u2 named 'dataset: u2/digits' 'cat /data/two/7; ls /data/one | wc -l; touch /data/new 2>&1; sleep 600'
  inline_pod u1 stranger 'dataset: u2/digits' 'cat /data/two/7'
  inline_pod u1 mistaken 'owner: u2' 'true'
  told "u2's pod" 'Read-only file system' kubectl -n u2 logs named
  expect "it reads" "seven 50" "$(kubectl -n u2 logs named | sed -n '1,2p' | paste -sd ' ')"
  told "the controller was asked" 'u2/digits +named' kubectl -n u2 get datasetaccesses
  expect "keys that an API server can read" 0 "$(kubectl get datasetaccesses -A -o json | grep -cE 'AQ[A-Za-z0-9+/]{38}==' || true)"
  told "u1, who is no reader" 'code = PermissionDenied desc = .*is no reader of dataset u2.digits' kubectl -n u1 describe pod stranger
  told "another attribute" 'code = InvalidArgument desc = .*may say dataset alone' kubectl -n u1 describe pod mistaken
  told "another's question" 'asked by the siphon-node of the pod.s own node' anothers_question
  told "another's answer" 'answered by siphon-controller alone' anothers_answer
  kubectl -n u1 delete pod stranger mistaken >/dev/null
}

# An administrator's, who could give any node any pod's name.
anothers_question() {
  kubectl -n u2 get datasetaccesses -o json | jq '.items[0] | .metadata = {name: "csi-forged", namespace: "u2"} | del(.status)' |
    kubectl apply -f -
}

# Of whoever may do everything in a namespace.
anothers_answer() {
  kubectl -n u2 patch "$(kubectl -n u2 get datasetaccesses -o name | head -n 1)" --subresource=status --type=merge \
    -p '{"status": {"request": "forged"}}'
}

# Made anew until the node has heard of it: what is known of grants may be a minute old.
late_reader() {
  kubectl -n vision delete pod late --ignore-not-found --grace-period=0 --force >/dev/null
  pod vision late digits 10002 'cat /data/two/7'
  local said=
  for _ in {1..50}; do
    said=$(kubectl -n vision describe pod late)
    ! grep -qE 'code = PermissionDenied|^Status: +Succeeded' <<<"$said" || break
    sleep 0.3
  done
  echo "$said"
}

images_mounted() { mounts | grep -c /images/ || true; }

dataset_identities() { lab run ceph auth ls 2>/dev/null | grep -c '^client.siphon-dataset' || true; }
