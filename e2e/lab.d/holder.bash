# Sourced by e2e/lab: the namespaces of a lab, the process that holds them, and how to enter them. The holder is pid 1 of
# the lab. When it ends, the kernel kills every daemon, driver and ceph-fuse in the lab. The mounts vanish with the last
# process; only the network namespace and the veth pair have names and must be removed.
# shellcheck shell=bash disable=SC2153 # HERE, PROJECT, LAB_*, LAYER, RUN, NETNS, VETH and LOCK come from e2e/lab

# Prints a process's start time in the kernel, so that a reused process id is not mistaken for the holder.
started_at() { awk '{ sub(/^.*\) /, ""); print $20 }' "/proc/$1/stat" 2>/dev/null; }

holder_alive() {
  local pid start
  [[ -s $RUN/holder ]] || return 1
  read -r pid start <"$RUN/holder"
  [[ -n $start && $(started_at "$pid") == "$start" ]]
}

holder_pid() { cut -d' ' -f1 "$RUN/holder"; }

# Prints the host paths that the lab shows, at the same place.
visible_paths() {
  printf '%s\n' "$PROJECT" "$HOME/.m2" "$LAB_DIR"/{run,guest,guest-smp,kubernetes,engine,prometheus,registry} /tmp
  "$HERE/lab.d/jdk" 2>/dev/null || true
  if command -v go >/dev/null; then echo "$(go env GOPATH)/bin"; fi
}

write_environment() {
  local release=$1 address=$2
  cat >"$RUN/env" <<END
CEPH_CONF=$RUN/ceph/ceph.conf
CEPH_KEYRING=$RUN/ceph/keyring
FS_NAME=cephfs
CEPH_RELEASE=$release
LAB_NAME=$LAB_NAME
LAB_RUN=$RUN
LAB_ADDRESS=$address
NODE_SECRET=$RUN/ceph/node-secret.yaml
NODE_SECRETS=$RUN/ceph/node-secrets.yaml
LDAP_URI=ldap://127.0.0.1:389
LDAP_URI_TLS=ldaps://127.0.0.1:636
LDAP_CA=$RUN/ldap/ca.pem
LDAP_BASE_DN=dc=siphon,dc=test
LDAP_BIND_DN=cn=siphon,dc=siphon,dc=test
LDAP_PASSWORD_FILE=$RUN/ldap/password
LDAP_ADMIN_DN=cn=admin,dc=siphon,dc=test
LDAP_ADMIN_PASSWORD_FILE=$RUN/ldap/admin.password
END
}

holder_start() {
  local release=$1 paths=() path pid
  mkdir -p "$LAB_DIR/run" "$HOME/.m2"
  mkdir -m 0700 "$RUN"
  mkdir "$RUN"/{ceph,daemon,log,root,layers}
  printf '%s\n' "$PROJECT" >"$RUN/project"
  network_create
  write_environment "$release" "$LAB_ADDRESS"
  while read -r path; do
    mkdir -p "$path"
    paths+=("$path")
  done < <(visible_paths)
  # setsid and closed descriptors: the lab outlives its caller and holds neither its terminal nor its lock.
  setsid nsenter --net="/run/netns/$NETNS" unshare --mount --uts --pid --fork --kill-child --propagation private \
    "$HERE/lab.d/holder" "$LAYER:$LAB_DIR/$release/root" "$RUN" "${paths[@]}" \
    </dev/null >"$RUN/log/holder.log" 2>&1 {LOCK}>&- &
  pid=$!
  disown "$pid"
  for _ in {1..100}; do
    [[ ! -e $RUN/holder.up ]] || break
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  [[ -e $RUN/holder.up ]] || { cat "$RUN/log/holder.log" >&2; die "the namespaces could not be made"; }
  # unshare's only child is pid 1 of the lab.
  pid=$(<"/proc/$pid/task/$pid/children")
  pid=${pid%% *}
  echo "$pid $(started_at "$pid")" >"$RUN/holder"
}

# Every process in the lab's network belongs to the lab, however it got there; the kernel lists them all.
holder_stop() {
  local pids
  if holder_alive; then kill -KILL "$(holder_pid)" 2>/dev/null || true; fi
  for _ in {1..200}; do
    pids=$(ip netns pids "$NETNS" 2>/dev/null || true)
    [[ -n $pids ]] || return 0
    # shellcheck disable=SC2086 # one word per process
    kill -KILL $pids 2>/dev/null || true
    sleep 0.05
  done
  die "these processes do not end: $(tr '\n' ' ' <<<"$pids")"
}

# Sets the environment of a command in the lab, on top of the caller's own.
holder_environment() {
  set -a
  # shellcheck source=/dev/null
  source "$RUN/env"
  set +a
  JAVA_HOME=$("$HERE/lab.d/jdk" 2>/dev/null || true)
  SIPHON_LAB_DIR=$LAB_DIR
  PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$PATH
  export JAVA_HOME SIPHON_LAB_DIR PATH
}

holder_enter() { (holder_exec "$@"); }

# nsenter stays outside as the parent, so the command asks the kernel to terminate it when nsenter ends (a killed test
# runner leaves no JVM behind). If the caller's directory does not exist inside, the command starts in /.
holder_exec() {
  local pid
  pid=$(holder_pid)
  holder_environment
  # shellcheck disable=SC2016 # expanded inside
  exec nsenter --target "$pid" --mount --uts --net --pid -- setpriv --pdeathsig TERM \
    /bin/bash -c 'cd "$1" 2>/dev/null || cd /; shift; exec "$@"' lab "$PWD" "$@"
}

# A /24 per lab: the host is .1, the daemons .2. Letters have fixed numbers; other names take the first free one.
network_create() {
  local number
  exec {NETLOCK}>"$LAB_DIR/.lock-network"
  flock "$NETLOCK"
  if [[ $LAB_NAME =~ ^[a-z]$ ]]; then
    printf -v number '%d' "'$LAB_NAME"
    network_claim $((number - 96)) || die "10.213.$((number - 96)).0/24 is in use"
  else
    for number in {27..250}; do network_claim "$number" && break; done
  fi
  exec {NETLOCK}>&-
  [[ -n ${LAB_ADDRESS:-} ]] || die "no free network 10.213.*.0/24"
}

network_claim() {
  local net=10.213.$1
  [[ -z $(ip -o -4 address show to "$net.0/24") ]] || return 1
  ip netns add "$NETNS"
  ip link add "$VETH" type veth peer name eth0 netns "$NETNS"
  ip address add "$net.1/24" dev "$VETH"
  ip link set "$VETH" up
  # Packets from this lab may be forwarded to other labs; the host's own forwarding stays unchanged.
  echo 1 >"/proc/sys/net/ipv4/conf/$VETH/forwarding"
  ip -n "$NETNS" link set lo up
  # an address of this host that no certificate names
  ip -n "$NETNS" address add 198.51.100.77/32 dev lo
  ip -n "$NETNS" address add "$net.2/24" dev eth0
  ip -n "$NETNS" link set eth0 up
  ip -n "$NETNS" route add default via "$net.1"
  LAB_ADDRESS=$net.2
}

network_remove() {
  ip link delete "$VETH" 2>/dev/null || true
  ip netns delete "$NETNS" 2>/dev/null || true
}
