# Sourced by functions.bash: pods with made-up GPUs, on a machine simulated by a tree of files, read a dataset from the
# nearest cache directory. Each of two NUMA nodes has four GPUs and an NVMe disk.
# shellcheck shell=bash disable=SC2016,SC2153 # scripts for the lab's shell and for pods; LAB_* and E2E come from functions.bash
GPUS=("GPU-fake-"{0,1,2,3}"=0" "GPU-fake-"{4,5,6,7}"=1")
GATE='schedulingGates: [{name: siphon.dev/dataset}]'
JAVA=("$("$E2E/lab.d/jdk")/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED
  --sun-misc-unsafe-memory-access=allow -cp "$E2E/target/test-classes:$(cat "$E2E/target/classpath" 2>/dev/null)")

# Lays the tree out like sysfs and the NVIDIA driver's proc files; /var/lib/siphon/nvme0 and nvme1 are on its disks.
make_machine() { # GPU=NODE...; of the lab, or of guest $GUEST
  # shellcheck disable=SC2086 # words
  lab ${GUEST:+guest} ${GUEST:-run} bash -euo pipefail -c '
    root=/var/lib/siphon/machine
    rm -rf "$root" && mkdir -p "$root/proc/self" && cd "$root"
    device() { # CHAIN ADDRESS VENDOR CLASS NODE
      mkdir -p "sys/devices/$1/$2" sys/bus/pci/devices
      echo "$3" >"sys/devices/$1/$2/vendor"; echo "$4" >"sys/devices/$1/$2/class"; echo "$5" >"sys/devices/$1/$2/numa_node"
      ln -s "../../../devices/$1/$2" "sys/bus/pci/devices/$2"
    }
    for each in "$@"; do
      number=${each#GPU-fake-} number=${number%=*} node=${each#*=}
      bus=$(printf %x0 $((number + 1)))
      device "pci0000:$bus/0000:$bus:01.0" "0000:${bus%0}1:00.0" 0x10de 0x030200 "$node"
      mkdir -p "proc/driver/nvidia/gpus/0000:${bus%0}1:00.0"
      printf "GPU UUID: \t %s\n" "${each%=*}" >"proc/driver/nvidia/gpus/0000:${bus%0}1:00.0/information"
    done
    for node in 0 1; do
      mkdir -p "sys/devices/system/node/node$node" sys/class/nvme sys/class/block sys/dev/block "/var/lib/siphon/nvme$node"
      bus=$(printf %x0 $((node + 10)))
      device "pci0000:$bus/0000:$bus:01.0" "0000:${bus%0}1:00.0" 0x144d 0x010802 "$node"
      disk="devices/pci0000:$bus/0000:$bus:01.0/0000:${bus%0}1:00.0/nvme/nvme$node"
      mkdir -p "sys/$disk/nvme${node}n1"
      echo "259:$node" >"sys/$disk/nvme${node}n1/dev"
      ln -s "../../$disk" "sys/class/nvme/nvme$node"
      ln -s "../../$disk/nvme${node}n1" "sys/class/block/nvme${node}n1"
      ln -s "../../$disk/nvme${node}n1" "sys/dev/block/259:$node"
      echo "3$node 22 259:$node / /var/lib/siphon/nvme$node rw - xfs /dev/nvme${node}n1 rw" >>proc/self/mountinfo
    done' bash "$@"
}

# with_node NAME=VALUE...: sets the environment of the node's pod; `NAME-` removes a variable.
with_node() {
  kubectl -n siphon set env daemonset/siphon-node "$@" >/dev/null
  kubectl -n siphon rollout status --timeout=120s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node"; }
}

# Adds two cache directories of this size, on the disks of that machine.
begin_gpus() {
  make_machine "${GPUS[@]}"
  daemon fake-gpus "${JAVA[@]}" dev.siphon.e2e.gpu.FakeGpus "${GPUS[@]}"
  told "GPUs of the node" "^${#GPUS[@]}$" kubectl get nodes -o 'jsonpath={.items[0].status.allocatable.nvidia\.com/gpu}'
  with_node SIPHON_CACHE_DIRS="/var/lib/siphon/nvme0/cache=$1,/var/lib/siphon/nvme1/cache=$1" \
    SIPHON_SYS=/var/lib/siphon/machine/sys SIPHON_PROC=/var/lib/siphon/machine/proc
}

# gpu_job NAME GPUS PODS [VOLUME [MORE]]: runs pods of u2 that print their GPUs and read, $AT_ONCE at a time; $SCRIPT
# replaces what they run.
gpu_job() {
  local script='cut -d" " -f1 /proc/uptime; echo "holds $NVIDIA_VISIBLE_DEVICES"; cat /data/two/7'
  kubectl apply -f - >/dev/null <<END
apiVersion: batch/v1
kind: Job
metadata: {name: $1, namespace: u2}
spec:
  completions: $3
  parallelism: ${AT_ONCE:-8}
  backoffLimit: 100
  template:
    metadata: {labels: {gpus: "$2"}}
    spec:
      ${5:-}
      restartPolicy: Never
      terminationGracePeriodSeconds: 1
      securityContext: {runAsUser: 10002, runAsGroup: 10002}
      containers:
        - name: main
          image: siphon.test/pause:1
          imagePullPolicy: Never
          command: [sh, -c, $(jq -Rs . <<<"${SCRIPT:-$script}")]
          resources: {limits: {nvidia.com/gpu: $2}}
          volumeMounts: [{name: data, mountPath: /data}]
      volumes: [{name: data, ${4:-csi: {driver: cephfs.siphon.dev, volumeAttributes: {dataset: u2/digits\}\}}}]
END
}

logs_of_job() { kubectl -n "$1" logs -l "batch.kubernetes.io/job-name=$2" --tail=-1; }

# How many nodes the cluster has.
NODES=1

# second_node GPU=NODE...: adds a guest with these GPUs and disks as the node SECOND, and starts a first reader of u2/digits there.
second_node() {
  SECOND=$(lab kubernetes join 1)
  kubectl -n siphon rollout status --timeout=180s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node's pod on $SECOND"; }
  GUEST=1 make_machine "$@"
  LAB_RUN=$LAB_RUN/guest/kubernetes1 command_of_daemon fake-gpus "${JAVA[@]}" -Xmx32m dev.siphon.e2e.gpu.FakeGpus "$@"
  lab guest 1 env "LAB_RUN=$LAB_RUN/guest/kubernetes1" "$E2E/lab.d/daemon" start fake-gpus
  told "GPUs of the second node" "^$#$" kubectl get node "$SECOND" -o 'jsonpath={.status.allocatable.nvidia\.com/gpu}'
  kubectl -n siphon delete pod "$(node_pod "$SECOND")" >/dev/null # a plugin detects its machine only when it starts
  kubectl -n siphon rollout status --timeout=180s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node's pod on $SECOND"; }
  first_reader "nodeName: $SECOND"
  NODES=2
}

# first_reader [MORE]: runs a pod that mounts u2/digits.
first_reader() {
  SCRIPT='find /data -type f | wc -l' gpu_job first 1 1 "" "${1:-}"
  settles "a first reader" -n u2 --timeout=600s --for=condition=Complete job/first
  kubectl -n u2 delete job first >/dev/null
}

# Seals 1.1 GB in 10,000 files as u2/digits, in a new namespace u2, and prints the object that declares it.
seal_large_digits() {
  kubectl create namespace u2 >/dev/null &&
    kubectl -n u2 wait --for=create --timeout=60s serviceaccount/default >/dev/null &&
    seal_a_dataset 'python3 -c "
import os
for n in range(10000): open(str(n), \"wb\").write(os.urandom(110000))"'
}

second_node_leaves() {
  kubectl delete node "$SECOND" >/dev/null
  lab guest kill 1
}

# Empties the nodes' page caches.
drop_caches() {
  sync
  echo 3 >/proc/sys/vm/drop_caches
  ((NODES == 1)) || lab guest 1 sh -c 'sync; echo 3 >/proc/sys/vm/drop_caches'
}

# Evicts the replicas of $SEALED from all nodes and checks that no replica object is left.
cold_everywhere() {
  local pod
  for pod in $(kubectl -n siphon get pods -l app.kubernetes.io/component=node -o name); do
    kubectl -n siphon exec "$pod" -- siphon cache evict "$(jq -r .spec.digest <<<"$SEALED")" >/dev/null || failed "nothing to evict by $pod"
  done
  told "replicas before" '^No resources found' kubectl get datasetreplicas
}
