# Sourced by e2e/kubernetes: pods with GPUs that are not there, on a machine that is a tree of files, read a dataset from the
# cache directory that is nearest. Four GPUs and an NVMe disk on each of two NUMA nodes.
# shellcheck shell=bash disable=SC2016,SC2153 # scripts for the lab's shell and for pods; LAB_* and E2E come from e2e/kubernetes
GPUS=("GPU-fake-"{0,1,2,3}"=0" "GPU-fake-"{4,5,6,7}"=1")
JAVA=("$("$E2E/lab.d/jdk")/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED
  --sun-misc-unsafe-memory-access=allow -cp "$E2E/target/test-classes:$(cat "$E2E/target/classpath" 2>/dev/null)")

# As sysfs and the NVIDIA driver describe such a machine; the disks are what /var/lib/siphon/nvme0 and nvme1 are on.
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

# with_node NAME=VALUE...: the node's pod with this in its environment, `NAME-` without.
with_node() {
  kubectl -n siphon set env daemonset/siphon-node "$@" >/dev/null
  kubectl -n siphon rollout status --timeout=120s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node"; }
}

# Two cache directories of so many bytes each, on the disks of that machine.
begin_gpus() {
  make_machine "${GPUS[@]}"
  daemon fake-gpus "${JAVA[@]}" dev.siphon.e2e.gpu.FakeGpus "${GPUS[@]}"
  told "GPUs of the node" "^${#GPUS[@]}$" kubectl get nodes -o 'jsonpath={.items[0].status.allocatable.nvidia\.com/gpu}'
  with_node SIPHON_CACHE_DIRS="/var/lib/siphon/nvme0/cache=$1,/var/lib/siphon/nvme1/cache=$1" \
    SIPHON_SYS=/var/lib/siphon/machine/sys SIPHON_PROC=/var/lib/siphon/machine/proc
}

# gpu_job NAME GPUS PODS [VOLUME [MORE]]: pods of u2 that say which GPUs they hold, and read; $AT_ONCE of them, $SCRIPT in place
# of that.
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

# What each pod that ran was told, beside what it has to be: the disk of the NUMA node with most of its GPUs; where these
# are equally many it does not matter, and nothing is said. A pod that a kubelet refused when it was back has no log.
choices() {
  join -j 1 -a 1 -e nothing -o 0,1.2,2.2 \
    <(kubectl -n u2 logs -l gpus --prefix --tail=-1 --max-log-requests=200 --ignore-errors |
      sed -nE 's|^\[pod/([^/]+)/main\] holds (.+)$|\1 \2|p' | sort) \
    <(kubectl -n u2 get events --field-selector reason=DatasetPlaced -o json |
      jq -r '.items[] | "\(.involvedObject.name) \(.message | capture("replica in /var/lib/siphon/(?<disk>[a-z0-9]+)/").disk)"' | sort -u) |
    awk '$2 != "nothing" {
      left = gsub(/GPU-fake-[0-3]/, "", $2); right = gsub(/GPU-fake-[4-7]/, "", $2)
      print $1, left, right, (left > right ? "nvme0" : right > left ? "nvme1" : "nothing"), $3
    }'
}

# wrong: those that were not shown the nearest.
wrong() { choices | awk '$4 != $5' | head -n 5; }

# silent: those that ended well, and of which nothing is known.
silent() {
  comm -23 <(kubectl -n u2 get pods -l gpus --field-selector=status.phase=Succeeded -o 'jsonpath={range .items[*]}{.metadata.name}{"\n"}{end}' | sort) \
    <(choices | cut -d' ' -f1 | sort)
}

# seconds NAME: from a pod with one GPU being asked for to its first command. The kubelet sees only every second that one ended.
seconds() {
  local begun
  begun=$(cut -d' ' -f1 /proc/uptime)
  gpu_job "$1" 1 1
  kubectl -n u2 wait --for=condition=Complete --timeout=60s "job/$1" >/dev/null 2>&1 || { describe_all >&2; failed "$1"; }
  kubectl -n u2 logs "job/$1" | awk -v begun="$begun" 'NR == 1 { printf "%.1f\n", $1 - begun }'
}

# No pod waits for what nobody answers: 2 s by themselves, and what the machine does meanwhile. Each is the first pod of a
# plugin that was started just now, which is slower by a second than the next ones.
without_answers() {
  local usual slow
  kubectl -n siphon rollout restart daemonset/siphon-node >/dev/null
  kubectl -n siphon rollout status --timeout=120s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node"; }
  usual=$(seconds usual)
  lab run rm -f /var/lib/siphon/silent.sock
  daemon silent python3 -c 'import socket, threading; server = socket.socket(socket.AF_UNIX); server.bind("/var/lib/siphon/silent.sock"); server.listen(64); threading.Event().wait()'
  told "one that does not answer" 'silent.sock' lab run ls /var/lib/siphon
  with_node SIPHON_POD_RESOURCES=/var/lib/siphon/silent.sock
  slow=$(seconds hung)
  shows "seconds of a pod, and where the kubelet does not answer" ' yes$' \
    "$usual, $slow: $(awk -v a="$usual" -v b="$slow" 'BEGIN { print (b < a + 3) ? "yes" : "no" }')"
  with_node SIPHON_POD_RESOURCES=/var/lib/siphon/nobody.sock
  slow=$(seconds absent)
  shows "and where there is none" ' yes$' "$slow: $(awk -v a="$usual" -v b="$slow" 'BEGIN { print (b < a + 3) ? "yes" : "no" }')"
  lab sig TERM silent
}

# Runs where no pod needs the node's pod as it is.
gpus() {
  step "pods with GPUs, and the disk that is nearest"
  local many=${GPU_PODS:-40}
  begin_gpus 1Gi
  declare_digits '["u2"]'
  shows "siphon topology" '^0 .*NODE +SYS$' "$(kubectl -n siphon exec daemonset/siphon-node -- siphon topology)"
  gpu_job one 1 $((many / 2))
  gpu_job two 2 $((many * 3 / 10))
  a_dataset_claim u2 digits u2/digits | kubectl apply -f - >/dev/null
  gpu_job four 4 $((many - many / 2 - many * 3 / 10)) 'persistentVolumeClaim: {claimName: digits}'
  told "pods that have run when the kubelet is killed" '^([3-9]|[1-9][0-9]+)$' kubectl -n u2 get job one -o 'jsonpath={.status.succeeded}'
  lab sig KILL kubelet
  lab start kubelet
  settles "the pods" -n u2 --timeout=300s --for=condition=Complete job/one job/two job/four
  told "pods that were not shown the nearest" '^$' wrong
  expect "pods that ran and said nothing" "" "$(silent)"
  shows "pods, and those near the one disk and the other" '^[0-9]+: [1-9][0-9]* [1-9][0-9]*$' \
    "$(choices | awk '{ all++; of[$5]++ } END { print all ": " of["nvme0"], of["nvme1"] }')"
  shows "replicas" 'local' "$(kubectl -n siphon exec daemonset/siphon-node -- siphon cache list)"
  dynamic_gpus
  hot_mounted
  without_answers
  with_node SIPHON_POD_RESOURCES=/var/lib/kubelet/pod-resources/kubelet.sock
  kubectl -n u2 delete jobs --all >/dev/null
  kubectl -n u2 delete pvc digits >/dev/null
}

# After `gpus` and what else needs its node.
end_gpus() {
  step "the GPUs go"
  kubectl delete dataset u2.digits >/dev/null
  told "its identity" '^0$' dataset_identities
  with_node SIPHON_CACHE_DIRS- SIPHON_SYS- SIPHON_PROC-
  lab sig TERM fake-gpus
}
