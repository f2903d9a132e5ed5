# Sourced by e2e/demo: a dataset from its files to a node's disk, and which disk serves which GPU.
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2153,SC2154 # jq programs and scripts for the lab; names from e2e/demo and e2e/lab
FILES=20000 FILE_BYTES=20000 CLASSES=100 READERS=8
BYTES=$((FILES * FILE_BYTES))

# progress WHAT DONE TOTAL UNIT BEGUN: how much is done, and from 5 % on the seconds left. A terminal shows one line that changes, and is
# removed at the end; elsewhere there is a line every 5 s.
progress() {
  local passed=$((SECONDS - $5)) left='' line
  ((passed == 0 || $2 * 20 < $3)) || left=", $((passed * ($3 - $2) / $2)) s left"
  line="   $1: $2 of $3 $4, $(($2 * 100 / $3)) %$left"
  if [[ -t 1 ]]; then
    (($2 < $3)) || line=''
    printf '\r\033[K%s' "$line"
  elif ((passed >= 5 && SECONDS >= NEXT_LINE && $2 < $3)); then
    echo "$line"
    NEXT_LINE=$((SECONDS + 5))
  fi
}
NEXT_LINE=0

now() { echo "${EPOCHREALTIME/[^0-9]/}"; }                              # in microseconds
since() { awk -v us=$(($(now) - $1)) 'BEGIN { printf "%.1f", us / 1e6 }'; } # in seconds
mb_per_s() { awk -v b="$1" -v s="$2" 'BEGIN { printf "%.0f", b / 1e6 / (s > 0 ? s : 0.1) }'; }

# They are in memory until they are sealed: a disk takes up to a minute to delete so many.
make_files() {
  local class begun=$SECONDS
  step "$FILES files of $FILE_BYTES bytes: what a researcher trains on"
  SOURCE=/srv/pictures
  lab run mkdir "$SOURCE"
  lab run mount -t tmpfs pictures "$SOURCE"
  for ((class = 0; class < CLASSES; class++)); do
    progress "written" $((class * FILES / CLASSES)) $FILES files "$begun"
    lab run bash -euo pipefail -c 'mkdir "$1"; head -c "$2" /dev/urandom | split -b "$3" -d -a 3 - "$1/"' make_files \
      "$SOURCE/class-$class" $((BYTES / CLASSES)) $FILE_BYTES
  done
  progress "written" $FILES $FILES files "$begun"
  lab run bash -euo pipefail -c 'cd "$1"; find . -type f -print0 | xargs -0 sha256sum' make_files "$SOURCE" | shuf >"$WORK/sums"
  expect "files" $FILES "$(wc -l <"$WORK/sums")"
  echo "   $((BYTES / 1000000)) MB; a SHA-256 digest of each is kept aside, in random order"
}

# Does what docs/how-to/publish-datasets.md tells an administrator. Without Kubernetes, the object's spec goes to a file.
seal() {
  local begun=$SECONDS start line
  step "An administrator seals them as dataset u1/pictures"
  lab ceph fs authorize "$FS_NAME" client.sealer / rwp >"$LAB_RUN/ceph/sealer.keyring" 2>/dev/null
  ROOT=$MOUNTS/root
  lab run mkdir -p "$ROOT"
  lab run ceph-fuse --id sealer --keyring "$LAB_RUN/ceph/sealer.keyring" --client_fs "$FS_NAME" "$ROOT" >"$WORK/root.log" 2>&1 ||
    failed "$(<"$WORK/root.log")"
  echo "   siphon dataset seal --name u1/pictures --reader u1 --mount $ROOT --source $SOURCE --progress"
  start=$(now)
  { lab run "$SIPHON" dataset seal --name u1/pictures --reader u1 --mount "$ROOT" --fs-name "$FS_NAME" \
      --source "$SOURCE" --progress 2>&1 >"$WORK/dataset.json" | while read -r line; do
        if [[ $line =~ ([0-9]+)" of "([0-9]+)" bytes"$ ]]; then
          progress "packed" $((BASH_REMATCH[1] / 1000000)) $((BASH_REMATCH[2] / 1000000)) MB "$begun"
        else
          echo "   $line"
        fi
      done
  } || failed "nothing is sealed"
  SEAL_SECONDS=$(since "$start")
  jq -c . "$WORK/dataset.json" | says
  DIGEST=$(jq -r .spec.digest "$WORK/dataset.json")
  jq '{"u1/pictures": .spec}' "$WORK/dataset.json" >"$WORK/datasets.json"
  echo "   sealed in $SEAL_SECONDS s: one image of $(($(jq .spec.bytes "$WORK/dataset.json") / 1000000)) MB"
  lab run umount "$SOURCE"
}

# A node with a disk for replicas. It shares nothing with the nodes before it.
restart_driver() {
  local assignments
  CACHE=$WORK/nvme0
  assignments=$(DRIVER_KEYS=yes DRIVER_DIRECTORY=ldap DRIVER_NODE_ARGS="--cache-dir=$CACHE=1Gi --grants-file=$WORK/grants.json" \
    DRIVER_CONTROLLER_ARGS="--datasets-file=$WORK/datasets.json --grants-file=$WORK/grants.json --namespace-owner=namespace" \
    lab driver)
  eval "$assignments"
}

mount_dataset() {
  local CAPABILITY='{mount: {}, access_mode: {mode: "MULTI_NODE_READER_ONLY"}}' stage publish
  step "A claim in namespace u1 names the dataset; a node that has never seen it mounts it"
  restart_driver
  controller CreateVolume "{name: \"claim\", volume_capabilities: [$CAPABILITY],
    parameters: {dataset: \"u1/pictures\", \"csi.storage.k8s.io/pvc/namespace\": \"u1\"}}" >"$WORK/claim.json"
  jq '.volume.volume_context += {"csi.storage.k8s.io/pod.namespace": "u1"}' "$WORK/claim.json" >"$WORK/pod.json"
  expect "in its cache directory" "" "$(ls "$CACHE")"
  mount_volume "$NODE_ENDPOINT" "$WORK/pod.json" pictures
  PICTURES=$TARGET
  stage=$(took NodeStageVolume) publish=$(took NodePublishVolume)
  MOUNT_MS=$((stage + publish))
  echo "   NodeStageVolume took $stage ms, NodePublishVolume $publish ms"
  lab run findmnt -no FSTYPE,SOURCE,OPTIONS "$PICTURES" | says
  BACKING=/sys/block/$(basename "$(lab run findmnt -no SOURCE "$PICTURES")")/loop/backing_file
  case $(lab run findmnt -no FSTYPE "$PICTURES") in
    erofs) echo "   the kernel reads the image, through a loop device" ;;
    *) echo "   this kernel has no EROFS: erofsfuse reads the image in its place" ;;
  esac
}

# took RPC: how many milliseconds the node's last call of it took, as its log says.
took() { grep "\"$1\"" "$LAB_RUN/log/node.out" | tail -n 1 | jq '.duration_ms | round'; }

mds_requests() { lab ceph tell "mds.$FS_NAME:0" perf dump mds_server 2>/dev/null | jq .mds_server.handle_client_request; }

drop_caches() {
  sync
  echo 3 >/proc/sys/vm/drop_caches
}

# read_all: READERS processes read all files once, as u1, in random order, and compare their digests. One file is open from the
# beginning and read last. A line for each file that is right goes to $WORK/read.
read_all() {
  as 10001 bash -euo pipefail -c '
    cd "$1"
    read -r sum name
    exec {opened}<"$name"
    xargs -d "\n" -P "$2" -n 125 sh -c "printf \"%s\n\" \"\$@\" | stdbuf -oL sha256sum --check -" sh
    [[ $(sha256sum <&$opened) == "$sum "* ]] && echo "$name: OK"' read_all "$PICTURES" $READERS \
    <"$WORK/sums" >"$WORK/read" 2>"$WORK/read.err"
}

files_read() { wc -l <"$WORK/read"; }
cache() { "$SIPHON" cache "$@" --socket "$LAB_RUN/driver/node-state/control.sock"; }

# Whether the node reads from its disk: the loop device says it at once.
switched() {
  if [[ -e $BACKING ]]; then grep -q "^$CACHE/" "$BACKING"; else [[ $(cache list --json | jq -r .attached) == replica ]]; fi
}


# read_with_progress [CHECK]: reads all files in the background, and until that ends shows the progress and calls CHECK. Sets
# READ_SECONDS.
read_with_progress() {
  local check=${1:-true} begun=$SECONDS start reader
  drop_caches
  : >"$WORK/read"
  start=$(now)
  read_all &
  reader=$!
  while kill -0 "$reader" 2>/dev/null; do
    progress "right, now from $FROM" "$(files_read)" $FILES files "$begun"
    "$check"
    sleep 0.2
  done
  wait "$reader" || failed "a reader failed: $(grep -v ': OK$' "$WORK/read" | cat - "$WORK/read.err")"
  READ_SECONDS=$(since "$start")
  progress "right" $FILES $FILES files "$begun"
  expect "files with the right digest" $FILES "$(files_read)"
}

# A node copies a dataset when its first pod comes. Evicting the copy shows what reading costs before that.
read_from_cephfs() {
  local requests FROM=CephFS
  step "u1 reads it all from CephFS and checks every digest; the node's copy is evicted for that"
  cache evict "$DIGEST" | says
  echo "   the controller is stopped from here to step $((STEP + 2)): nodes read without it, and only they ask the MDS"
  lab sig TERM controller
  requests=$(mds_requests)
  read_with_progress
  CEPHFS_RATE=$(mb_per_s $BYTES "$READ_SECONDS")
  CEPHFS_REQUESTS=$(($(mds_requests) - requests))
  echo "   in $READ_SECONDS s, $CEPHFS_RATE MB/s, $CEPHFS_REQUESTS requests to the MDS"
}

# Runs while files are read: notes how many were right when the node had switched to its disk.
check_switch() {
  [[ -z $BEFORE_SWITCH ]] && switched || return 0
  BEFORE_SWITCH=$((PASSES * FILES + $(files_read))) FROM="the disk"
}

# Reads until the node has switched, and then to the end.
read_while_switched() {
  local FROM=CephFS PASSES warm
  step "u1 reads it again, while the node copies the image to its disk and switches to that under the reader"
  cache warm "$DIGEST" >"$WORK/warm" 2>&1 &
  warm=$!
  BEFORE_SWITCH=''
  for ((PASSES = 0; PASSES < 10; PASSES++)); do
    read_with_progress check_switch
    [[ -z $BEFORE_SWITCH ]] || break
  done
  [[ -n $BEFORE_SWITCH ]] || failed "no switch in $PASSES passes: $(tail -n 1 "$WORK/warm")"
  wait "$warm" || failed "$(<"$WORK/warm")"
  tail -n 1 "$WORK/warm" | says
  AFTER_SWITCH=$(((PASSES + 1) * FILES - BEFORE_SWITCH))
  echo "   $BEFORE_SWITCH files were read when the switch was seen, $AFTER_SWITCH after that; one was open all the time, and read last"
}

read_local() {
  local requests FROM="the disk"
  step "u1 reads it all from the disk, with cold caches"
  requests=$(mds_requests)
  read_with_progress
  LOCAL_RATE=$(mb_per_s $BYTES "$READ_SECONDS")
  LOCAL_REQUESTS=$(($(mds_requests) - requests))
  expect "MDS requests" 0 $LOCAL_REQUESTS
  echo "   in $READ_SECONDS s, $LOCAL_RATE MB/s"
  start_controller
}

start_controller() {
  lab start controller
  for _ in {1..50}; do
    ! controller Probe '{}' >/dev/null 2>&1 || return 0
    sleep 0.2
  done
  failed "the controller does not answer"
}

delete_dataset() {
  step "The dataset goes"
  unmount_volume "$NODE_ENDPOINT" "$WORK/claim.json" pictures
  delete_volume claim.json
  lab run rm -r "$ROOT/datasets/u1.pictures"
  lab run umount "$ROOT"
}

# The machine is one of those with which the node's tests compare a published table.
show_topology() {
  local machine=$WORK/machine classes=$E2E/../node/plugin/target disk arguments=()
  local recorded=$E2E/../node/plugin/src/test/resources/dev/siphon/node/topology/two-sockets.machine
  step "Which disk serves which GPU: a server with two sockets, 8 GPUs and 4 NVMe disks, from its recorded PCI tree"
  sed -n 's/^# /   /p' "$recorded"
  echo
  mkdir "$machine"
  "$("$E2E/lab.d/jdk")/bin/java" -cp "$classes/test-classes:$classes/classes" dev.siphon.node.topology.RecordedMachine \
    "$machine" two-sockets
  for disk in {0..3}; do arguments+=(--cache-dir "/mnt/nvme$disk/siphon"); done
  arguments+=(--sys "$machine/sys" --proc "$machine/proc")
  "$SIPHON" topology "${arguments[@]}" | says
  "$SIPHON" topology "${arguments[@]}" --json | jq -r '
    def words: {PIX: "behind the same PCIe switch", PXB: "several PCIe switches away", PHB: "at the same host bridge",
      NODE: "on the same socket, behind no common switch", SYS: "on the other socket"};
    . as $all | ["PIX", "PXB", "PHB", "NODE", "SYS"] as $order
    | .gpus[] | .pci as $pci
    | [$order[] as $distance | [$all.cache_directories[] | select(.distances[$pci] == $distance)] | select(. != [])][0]
    | "\($pci)\t\([.[].directory] | join(" or "))\t\(.[0].distances[$pci])\t\(words[.[0].distances[$pci]])"' >"$WORK/nearest"
  echo
  awk -F '\t' '{ printf "   GPU %s reads from %s: %s (%s)\n", $1, $2, $4, $3 }' "$WORK/nearest"
  GPUS=$(wc -l <"$WORK/nearest")
  SAME_SWITCH=$(awk -F '\t' '$3 == "PIX"' "$WORK/nearest" | wc -l)
  SAME_SOCKET=$(awk -F '\t' '$3 == "NODE"' "$WORK/nearest" | wc -l)
  OTHER_SOCKET=$(awk -F '\t' '$3 == "SYS"' "$WORK/nearest" | wc -l)
}
