# Sourced by e2e/upgrade, e2e/waves, e2e/namespaces, e2e/gpu-wait, e2e/kueue-wait and e2e/cluster-memory: Siphon on a real Kubernetes, step
# by step. Each step states its expectation and stops if it fails. The script that sources this continues in the lab
# LAB_NAME, which is taken down afterwards.
# shellcheck shell=bash
set -euo pipefail
E2E=$(cd -P "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PROJECT=$(dirname "$E2E")
SIPHON=$PROJECT/deploy/target/siphon/bin/siphon
export LAB_NAME=${LAB_NAME:-k8s} CEPH_RELEASE=20
LAB_KUBERNETES=$(realpath -m "${SIPHON_LAB_DIR:-$HOME/.cache/siphon/lab}")/kubernetes

failed() { echo "FAILED: $*" >&2; exit 1; }
expect() { # WHAT EXPECTED ACTUAL
  [[ $2 == "$3" ]] || failed "$1: expected '$2', got '$3'"
  echo "   $1: ${3:-none}"
}
shows() { # WHAT PATTERN TEXT
  grep -qE "$2" <<<"$3" || failed "$1: no '$2' in: $3"
  echo "   $1: $(grep -m1 -E "$2" <<<"$3" | sed -E 's/^ +//; s/ +/ /g' | cut -c1-160)"
}
step() { echo "$((++STEP)). $* ($((SECONDS - BEGUN)) s)"; }
STEP=0 BEGUN=$SECONDS

# shellcheck source=lifecycle.bash
source "$E2E/kubernetes.d/lifecycle.bash"
# shellcheck source=kernel.bash
source "$E2E/kubernetes.d/kernel.bash"
# shellcheck source=datasets.bash
source "$E2E/kubernetes.d/datasets.bash"
# shellcheck source=gpus.bash
source "$E2E/kubernetes.d/gpus.bash"

lab() { "$E2E/lab" "$@"; }
kubectl() { lab kubectl "$@"; }
daemon() { # NAME WORDS...: a daemon of the lab that runs them
  command_of_daemon "$@"
  lab start "$1"
}
command_of_daemon() {
  printf '#!/bin/sh\nexec%s\n' "$(printf ' %q' "${@:2}")" >"$LAB_RUN/daemon/$1"
  chmod 0755 "$LAB_RUN/daemon/$1"
}
# settles WHAT ARGS...: runs kubectl wait, and describes the cluster if that fails.
settles() {
  local what=$1
  shift
  kubectl wait --timeout=120s "$@" >/dev/null 2>&1 || { describe_all "$@" >&2; failed "$what"; }
}
describe_all() {
  kubectl get pods,pvc,pv -A -o wide || true
  kubectl get events -A --sort-by=.lastTimestamp | tail -n 30 || true
  kubectl -n siphon logs deployment/siphon-controller --all-containers --tail=15 --prefix || true
  kubectl -n siphon logs daemonset/siphon-node --tail=15 --prefix || true
}

# Does an administrator's part: monitors, a key, LDAP, and the image's name.
configure() {
  local deploy=$LAB_RUN/deploy
  mkdir -p "$deploy"
  cp -r "$PROJECT"/deploy/{kustomization.yaml,namespace.yaml,siphon.yaml,ceph,directory} "$deploy"
  cat >"$deploy/ceph/clusters.json" <<END
{"clusters": [
  {"id": "lab", "monitors": ["$LAB_ADDRESS"], "user": "siphon", "keyringFile": "/etc/siphon/ceph/keyring", "default": true}
]}
END
  "$SIPHON" ceph-caps --fs "$FS_NAME" --keyring "$deploy/ceph/keyring" | lab run bash -euo pipefail
  cat >"$deploy/directory/directory.json" <<END
{
  "preset": "rfc2307",
  "servers": ["ldaps://$LAB_ADDRESS"],
  "caFile": "/etc/siphon/directory/ca.pem",
  "bindDn": "$LDAP_BIND_DN",
  "passwordFile": "/etc/siphon/directory/password",
  "accounts": {"base": "ou=people,$LDAP_BASE_DN", "allowance": "siphonAllowance"},
  "groups": {"base": "ou=groups,$LDAP_BASE_DN", "allowance": "siphonAllowance"}
}
END
  cp "$LDAP_PASSWORD_FILE" "$deploy/directory/password"
  cp "$LDAP_CA" "$deploy/directory/ca.pem"
  sed -i "s/newTag: .*}/newTag: lab}/" "$deploy/kustomization.yaml"
}

install() {
  step "kubectl apply -k deploy/ on an empty cluster"
  kubectl apply -k "$LAB_RUN/deploy" >/dev/null
  settles "the controller" -n siphon --for=condition=Available deployment/siphon-controller
  kubectl -n siphon rollout status --timeout=120s daemonset/siphon-node >/dev/null || { describe_all >&2; failed "the node"; }
  expect "drivers of the node" cephfs.siphon.dev "$(kubectl get csinodes -o 'jsonpath={.items[0].spec.drivers[*].name}')"
}

claim() { a_claim "$@" | kubectl apply -f - >/dev/null; }

a_claim() { # NAMESPACE NAME SIZE [CLASS [OWNER]]
  cat <<END
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: $2, namespace: $1, annotations: {${5:+siphon.dev/owner: "$5"}}}
spec: {storageClassName: ${4:-siphon}, accessModes: [ReadWriteMany], resources: {requests: {storage: $3}}}
END
}

# told WHAT PATTERN CMD...: retries the command until its output matches.
told() {
  local what=$1 pattern=$2 text=
  shift 2
  for _ in {1..150}; do
    text=$("$@" 2>&1) || true
    ! grep -qE "$pattern" <<<"$text" || break
    sleep 0.3
  done
  shows "$what" "$pattern" "$text"
}

pod() { # NAMESPACE NAME CLAIM UID SCRIPT, on node $ON or any; HOST_USERS=false for users of its own
  kubectl apply -f - >/dev/null <<END
apiVersion: v1
kind: Pod
metadata: {name: $2, namespace: $1}
spec:
  restartPolicy: Never
  ${ON:+nodeName: $ON}
  ${HOST_USERS:+hostUsers: $HOST_USERS}
  terminationGracePeriodSeconds: 1
  securityContext: {runAsUser: $4, runAsGroup: $4}
  containers:
    - name: main
      image: siphon.test/pause:1
      imagePullPolicy: Never
      command: [sh, -c, $(jq -Rs . <<<"$5")]
      volumeMounts: [{name: data, mountPath: /data}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: $3}}]
END
}

leader() { kubectl -n siphon get lease siphon-controller -o 'jsonpath={.spec.holderIdentity}'; }

start_kubernetes() {
  step "Kubernetes starts"
  eval "$(lab kubernetes)"
  export KUBECONFIG
  expect "version" v1.36.1 "$(kubectl version -o json | jq -r .serverVersion.gitVersion)"
}

build_image() {
  step "the image"
  expect "image" siphon:lab "$("$E2E/lab.d/kubernetes/driver-image" "$E2E/lab")"
}

"$E2E/lab.d/need" jq
if [[ ${INSIDE_LAB:-} != yes ]]; then INSIDE_LAB=yes exec "$E2E/lab.d/with-lab" "$0"; fi
