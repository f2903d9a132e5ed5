# Sourced by e2e/kubernetes: GPUs that the kubelet does not know of when a pod's dataset is published. Runs within `gpus`, on its
# machine and with its dataset.
# shellcheck shell=bash disable=SC2153 # GPUS, JAVA and LAB_RUN come from gpus.bash and e2e/kubernetes

# claimed NAME [TEMPLATE [MORE]]: a pod of u2 that has a GPU by a claim, of which the kubelet knows nothing when it has the dataset
# published.
claimed() {
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: $1, namespace: u2}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsUser: 10002, runAsGroup: 10002}
  ${3:-}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: ${2:-gpu}}]
  containers:
    - name: main
      image: siphon.test/pause:1
      imagePullPolicy: Never
      command: [sh, -c, 'cat /data/two/7; exec sleep 600']
      resources: {claims: [{name: gpu}]}
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, csi: {driver: cephfs.siphon.dev, volumeAttributes: {dataset: u2/digits}}}]
END
}

# What each of these pods was allocated, beside the disk that it was told.
allocations() {
  join <(kubectl -n u2 get resourceclaims -o json | jq -r '.items[].status | "\(.reservedFor[0].name) \(.allocation.devices.results[0].device)"' | sort) \
    <(kubectl -n u2 get events --field-selector reason=DatasetPlaced -o json |
      jq -r '.items[] | "\(.involvedObject.name) \(.message | capture("replica in /var/lib/siphon/(?<disk>[a-z0-9]+)/").disk)"' | sort -u) |
    cut -d' ' -f2- | sort | paste -sd, -
}

# Of two devices one is wanted by a pod, which waits until its dataset is where they are, and three by another, for which there is
# no such node.
gated_claims() {
  step "and at the gate"
  cold
  claimed waiting gpu "$GATE"
  claimed greedy three "$GATE"
  told "one that wants more than a node has" '^DatasetNotWarm: no node of the cluster suits the pod' of_pod u2 greedy
  settles "the other" -n u2 --for=condition=Ready pod/waiting
  told "what it was told" '^DatasetWarm: dataset u2.digits is on a disk of ' of_pod u2 waiting
  shows "where it was warmed" "^u2.digits.* u2.digits +$node .* Local +100" "$(kubectl get datasetreplicas --no-headers)"
  kubectl -n u2 delete pod waiting greedy >/dev/null
  told "claims that are left" '^No resources found' kubectl -n u2 get resourceclaims
}

# Of two GPUs on the two disks' sides the one is told by its address and the other by its UUID, as drivers do it.
dynamic_gpus() {
  step "GPUs by Dynamic Resource Allocation"
  local driver=gpu.siphon.test node
  node=$(kubectl get nodes -o 'jsonpath={.items[0].metadata.name}')
  daemon fake-dra "${JAVA[@]}" dev.siphon.e2e.gpu.FakeDraDriver "$driver"
  told "the driver" 'registered with the kubelet: true' cat "$LAB_RUN/log/fake-dra.out"
  kubectl apply -f - >/dev/null <<END
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $driver}
spec:
  driver: $driver
  nodeName: $node
  pool: {name: $node, generation: 1, resourceSliceCount: 1}
  devices:
    - {name: gpu-1, attributes: {uuid: {string: GPU-fake-1}}}
    - {name: gpu-5, attributes: {resource.kubernetes.io/pciBusID: {string: '0000:61:00.0'}}}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $driver}
spec: {selectors: [{cel: {expression: device.driver == '$driver'}}]}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: gpu, namespace: u2}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: $driver}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: three, namespace: u2}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: $driver, count: 3}}]}}}
END
  gated_claims
  claimed claimed-a
  claimed claimed-b
  settles "the pods" -n u2 --for=condition=Ready pod/claimed-a pod/claimed-b
  told "what they were allocated, and the nearest" '^gpu-1 nvme0,gpu-5 nvme1$' allocations
  shows "siphon topology --pod" "^$driver +(0000:61:00.0|GPU-fake-1)" \
    "$(kubectl -n siphon exec daemonset/siphon-node -- siphon topology --pod u2/claimed-a)"
  kubectl -n u2 delete pod claimed-a claimed-b >/dev/null
  kubectl -n u2 delete resourceclaimtemplate gpu three >/dev/null
  kubectl delete deviceclass,resourceslice "$driver" >/dev/null
  lab sig TERM fake-dra
}

# The disk that the tree of the dataset is read from.
read_from() {
  kubectl -n siphon exec daemonset/siphon-node -- siphon cache list --json |
    jq -r 'select(.attached == "replica").where | capture("/var/lib/siphon/(?<disk>[a-z0-9]+)/").disk'
}

# A pod that reads all the time, and has no GPU.
reader() {
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: plain, namespace: u2}
spec:
  terminationGracePeriodSeconds: 1
  securityContext: {runAsUser: 10002, runAsGroup: 10002}
  containers:
    - name: main
      image: siphon.test/pause:1
      imagePullPolicy: Never
      command: [sh, -c, 'while cat /data/two/7 /data/one/* >/dev/null; do sleep 0.2; done; echo broken']
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, csi: {driver: cephfs.siphon.dev, volumeAttributes: {dataset: u2/digits}}}]
END
  settles "the pod" -n u2 --for=condition=Ready pod/plain
  told "what it reads from" '^nvme[01]$' read_from
}

# holder NUMBER: one that holds a GPU for it, as GPUMounter has it.
holder() {
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: plain-slave-pod-$1, namespace: gpu-pool}
spec:
  terminationGracePeriodSeconds: 1
  containers:
    - name: main
      image: siphon.test/pause:1
      imagePullPolicy: Never
      command: [sleep, '600']
      resources: {limits: {nvidia.com/gpu: 1}}
END
  settles "what holds its GPU" -n gpu-pool --for=condition=Ready "pod/plain-slave-pod-$1"
}

# plugged GPU=NODE...: the GPUs that there are from now on. Who has one keeps it.
plugged() {
  lab sig TERM fake-gpus
  daemon fake-gpus "${JAVA[@]}" dev.siphon.e2e.gpu.FakeGpus "$@"
  told "GPUs of the node" "^$#\$" kubectl get nodes -o 'jsonpath={.items[0].status.allocatable.nvidia\.com/gpu}'
}

# follows DISK: where it reads from in the end, and that it is told.
follows() {
  told "what it reads from once that is seen" "^$1\$" read_from
  told "its event" "dataset [0-9a-f]+ has its replica in /var/lib/siphon/$1/cache, NODE, nearest to its GPUs" \
    kubectl -n u2 get events --field-selector involvedObject.name=plain,reason=DatasetPlaced -o 'jsonpath={.items[*].message}'
  shows "siphon topology --pod" "^/var/lib/siphon/$1/cache +40 +NODE" \
    "$(kubectl -n siphon exec daemonset/siphon-node -- siphon topology --pod u2/plain)"
}

# Of the GPUs only one on the other side of what the pod reads from is there, so that it is the one.
hot_mounted() {
  step "a GPU that comes to a pod while it runs"
  local from to=nvme1 gpu=GPU-fake-5 back=GPU-fake-1
  reader
  from=$(read_from)
  [[ $from == nvme0 ]] || to=nvme0 gpu=GPU-fake-1 back=GPU-fake-5
  plugged "$gpu=${to#nvme}"
  kubectl create namespace gpu-pool >/dev/null
  kubectl -n gpu-pool wait --for=create --timeout=60s serviceaccount/default >/dev/null
  holder 1
  follows "$to"
  step "one on the other side comes, and the first is taken away"
  plugged "$gpu=${to#nvme}" "$back=${from#nvme}"
  holder 2
  kubectl -n gpu-pool delete pod plain-slave-pod-1 >/dev/null
  follows "$from"
  expect "reads that failed" "" "$(kubectl -n u2 logs plain)"
  kubectl -n u2 delete pod plain >/dev/null
  kubectl delete namespace gpu-pool >/dev/null
  plugged "${GPUS[@]}"
}
