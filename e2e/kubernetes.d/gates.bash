# Sourced by e2e/kubernetes: pods that wait at the gate siphon.dev/dataset until their dataset is on a disk. Runs between
# `gpus` and `end_gpus`, on their node.
# shellcheck shell=bash disable=SC2016 # scripts for pods
GATE='schedulingGates: [{name: siphon.dev/dataset}]'

# cold: no replica of the dataset anywhere, and no object that knows of one.
cold() {
  kubectl -n siphon exec daemonset/siphon-node -- siphon cache evict "$(jq -r .spec.digest <<<"$SEALED")" >/dev/null
  told "replicas before" '^No resources found' kubectl get datasetreplicas
}

# gated_pod NAMESPACE NAME DATASET [MORE]: one that reads it, if it is let go.
gated_pod() {
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1, ${4:-labels: {\}}}
spec:
  restartPolicy: Never
  terminationGracePeriodSeconds: 1
  $GATE
  ${5:-}
  securityContext: {runAsUser: 10002, runAsGroup: 10002}
  containers:
    - name: main
      image: siphon.test/pause:1
      imagePullPolicy: Never
      command: [cat, /data/two/7]
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, csi: {driver: cephfs.siphon.dev, volumeAttributes: {dataset: $3}}}]
END
}

of_pod() { kubectl -n "$1" get events --field-selector "involvedObject.name=$2" -o 'jsonpath={range .items[*]}{.reason}: {.message}{"\n"}{end}'; }

phase() { kubectl -n "$1" get pod "$2" -o 'jsonpath={.status.phase}'; }

# refused WHAT PATTERN COMMAND...: by the API server.
refused() {
  local said
  ! said=$("${@:3}" 2>&1) || failed "$1: it may"
  shows "$1" "$2" "$said"
}

as_controller() { kubectl --as=system:serviceaccount:siphon:siphon-controller "$@"; }

gates() {
  step "pods that wait until their dataset is on a disk"
  cold
  gpu_job waiting 1 6 '' "$GATE"
  settles "the pods" -n u2 --timeout=120s --for=condition=Complete job/waiting
  shows "kubectl get datasetreplicas" '^u2\.digits\..* u2\.digits .* Local +100' "$(kubectl get datasetreplicas --no-headers)"
  expect "pods that were let go since it is there" 6 "$(kubectl -n u2 get events --field-selector reason=DatasetWarm -o json |
    jq '[.items[] | select(.involvedObject.name | startswith("waiting-"))] | length')"
  shows "what they were told" 'dataset u2.digits is on a disk of ' "$(kubectl -n u2 get events --field-selector reason=DatasetWarm -o 'jsonpath={.items[0].message}')"
  expect "what they prefer" kubernetes.io/hostname "$(kubectl -n u2 get pods -l gpus=1 -o \
    'jsonpath={.items[0].spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].key}')"
  kubectl -n u2 delete job waiting >/dev/null
  told "its object, when nobody waits" ' false +Local' kubectl get datasetreplicas --no-headers

  step "gpu.yaml of the examples"
  cold
  sed -E 's|u1/imagenet-v1|u2/digits|; s|10001|10002|g; s|image: pytorch/.*|image: siphon.test/pytorch:1|' "$EXAMPLES/gpu.yaml" |
    kubectl -n u2 apply -f - >/dev/null
  settles "it" -n u2 --for=condition=Complete job/gpu
  shows "it reads" ' bytes of 51 files$' "$(logs_of_job u2 gpu)"
  expect "its ranks were let go since it is there" 2 "$(kubectl -n u2 get events --field-selector reason=DatasetWarm -o json |
    jq '[.items[] | select(.involvedObject.name | startswith("gpu-"))] | length')"
  kubectl -n u2 delete job gpu >/dev/null

  step "and the controller is killed meanwhile"
  cold
  gpu_job orphans 1 4 '' "$GATE"
  kubectl -n siphon delete pod "$(leader)" --grace-period=0 --force >/dev/null 2>&1
  settles "the pods" -n u2 --timeout=120s --for=condition=Complete job/orphans
  kubectl -n u2 delete job orphans >/dev/null

  step "pods that cannot have it there"
  gated_pod u1 stranger u2/digits
  gated_pod u2 mistaken u2/numbers
  gated_pod u2 nowhere u2/digits '' 'nodeSelector: {disk: none}'
  told "one that is no reader" '^DatasetNotReadable: .*is no reader of dataset u2.digits' of_pod u1 stranger
  told "one of no dataset" '^DatasetNotReadable: .*there is no dataset .u2.numbers' of_pod u2 mistaken
  told "one that suits no node" '^DatasetNotWarm: no node of the cluster suits the pod' of_pod u2 nowhere
  told "the scheduler" '^FailedScheduling: ' of_pod u2 nowhere
  expect "those that cannot run wait" "Pending Pending" "$(phase u1 stranger) $(phase u2 mistaken)"
  kubectl -n u1 delete pod stranger >/dev/null
  kubectl -n u2 delete pod mistaken nowhere >/dev/null
  cold
  with_node SIPHON_CACHE_DIRS=/var/lib/siphon/nvme0/cache=64Ki
  gated_pod u2 full u2/digits
  gated_pod u2 hasty u2/digits 'annotations: {siphon.dev/max-wait: 5s}'
  told "one that will not wait" '^DatasetNotWarm: .*is not whole where the pod will run after 5 s' of_pod u2 hasty
  told "kubectl get datasetreplicas" ' Failed ' kubectl get datasetreplicas --no-headers
  settles "where the disk is full" -n u2 --for=jsonpath='{.status.phase}'=Succeeded pod/full pod/hasty
  shows "it was told" '^DatasetNotWarm: .*cannot be filled where the pod may run' "$(of_pod u2 full)"
  kubectl -n u2 delete pod full hasty >/dev/null
  with_node SIPHON_CACHE_DIRS=/var/lib/siphon/nvme0/cache=1Gi,/var/lib/siphon/nvme1/cache=1Gi

  step "ahead of time, and who may say what"
  kubectl apply -f - >/dev/null <<END
apiVersion: siphon.dev/v1alpha1
kind: DatasetWarmup
metadata: {name: every-node}
spec: {dataset: u2/digits}
END
  told "kubectl get datasetwarmups" '^every-node +u2/digits +1 +1' kubectl get datasetwarmups --no-headers
  expect "a program of the node that asks by HTTP" true "$(by_http GET /v1/datasets/u2/digits | jq .ready)"
  expect "and has it warmed, which it is" true "$(by_http POST '/v1/datasets/u2/digits/warm?wait=30' | jq .ready)"
  local name
  name=$(kubectl get datasetreplicas -o 'jsonpath={.items[0].metadata.name}')
  refused "an administrator's report" 'said by the siphon-node of its own node alone' kubectl patch datasetreplica "$name" \
    --subresource=status --type=merge -p '{"status": {"state": "Absent"}}'
  refused "an administrator's order" 'written by siphon-controller alone' kubectl patch datasetreplica "$name" --type=merge -p '{"spec": {"node": "other"}}'
  gated_pod u2 kept u2/numbers
  refused "the controller's change of a pod" 'change nothing else of it' as_controller -n u2 patch pod kept --type=merge \
    -p '{"metadata": {"labels": {"more": "of-it"}}}'
  kubectl -n u2 delete pod kept >/dev/null
  kubectl delete datasetwarmup every-node >/dev/null
  automatic
  nosy
}

# Of the node a pod has the tree and nothing else, be it root's: each attempt succeeds in the node's own pod.
nosy() {
  step "what a pod that is root sees of the node"
  local number attempt
  AS=0 inline_pod u2 nosy 'dataset: u2/digits' 'sleep 600'
  settles "it" -n u2 --for=condition=Ready pod/nosy
  number=$(kubectl -n u2 exec nosy -- sed -n 's|^/dev/loop\([0-9]*\) /data erofs .*|\1|p' /proc/mounts)
  shows "the loop device behind its volume" '^[0-9]+$' "$number"
  for attempt in "head -c 4096 /dev/loop$number" "ls /dev/loop-control" 'ls /var/lib/siphon/nvme0/cache/*/image'; do
    kubectl -n siphon exec daemonset/siphon-node -- sh -c "$attempt" >/dev/null || failed "$attempt, by the node"
    told "$attempt" 'No such file or directory' kubectl -n u2 exec nosy -- sh -c "$attempt"
  done
  kubectl -n u2 exec nosy -- busybox mknod /disk b 7 "$number"
  told "a device that it makes itself" 'Operation not permitted' kubectl -n u2 exec nosy -- head -c 4096 /disk
  kubectl -n u2 delete pod nosy >/dev/null
}

# by_http METHOD TARGET: on the node, beside Kubernetes.
by_http() {
  lab run python3 -c 'import http.client, socket, sys
connection = http.client.HTTPConnection("node")
connection.sock = socket.socket(socket.AF_UNIX)
connection.sock.connect("/var/lib/siphon/node/http.sock")
connection.request(*sys.argv[1:])
print(connection.getresponse().read().decode())' "$@"
}

# gate.automatic of the chart: an API server takes some seconds to know a policy.
automatic() {
  local policies
  policies=$(chart --set gate.automatic=true | kubectl create --dry-run=client -o json -f - |
    jq -c '.items[]? // . | select(.kind | startswith("MutatingAdmissionPolicy"))')
  kubectl apply -f - <<<"$policies" >/dev/null
  told "the gate of a pod with a GPU" 'siphon.dev/dataset' gates_of 1
  expect "of one without" null "$(gates_of 0)"
  kubectl delete -f - <<<"$policies" >/dev/null
}

# gates_of GPUS: what the API server gives a pod that asks for so many; it makes none.
gates_of() {
  kubectl create --dry-run=server -o json -f - <<END | jq -c .spec.schedulingGates
apiVersion: v1
kind: Pod
metadata: {name: any, namespace: u2}
spec:
  containers: [{name: main, image: siphon.test/pause:1, resources: {limits: {nvidia.com/gpu: $1}}}]
  volumes: [{name: data, csi: {driver: cephfs.siphon.dev, volumeAttributes: {dataset: u2/digits}}}]
END
}
