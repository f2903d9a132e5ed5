# Sourced by e2e/kubernetes: whose files a pod's users make, on a node whose kernel maps mounts.
# shellcheck shell=bash

# user_namespaces NODE: u1's pod `heart` runs there, on the volume of the claim `data`.
user_namespaces() {
  local node=$1
  step "a pod with users of its own (hostUsers: false)"
  HOST_USERS=false ON=$node pod u1 own-users data 10001 'cat /proc/self/uid_map; echo mine >/data/mine; stat -c %u:%g /data/mine'
  settles "it" -n u1 --for=jsonpath='{.status.phase}'=Succeeded pod/own-users
  shows "its users, whom they are on the node, how many" '^ +0 +[1-9][0-9]+ +65536$' "$(kubectl -n u1 logs own-users)"
  expect "whose its file is, as it sees that" 10001:10001 "$(kubectl -n u1 logs own-users --tail=1)"
  expect "and as a pod with the node's users does" 10001:10001 "$(kubectl -n u1 exec heart -- stat -c %u:%g /data/mine)"

  step "root in a pod is the account (containerUser)"
  kubectl get storageclass siphon -o json | jq '.metadata = {name: "for-root"}
    | .parameters += {containerUser: "root", mounter: "kernel"}' | kubectl apply -f - >/dev/null
  claim u1 roots 1Gi for-root
  ON=$node pod u1 root roots 0 'echo mine >/data/by-root; stat -c %u:%g /data/by-root; sleep 600'
  settles "it" -n u1 --for=condition=Ready pod/root
  told "whose its file is, as it sees that" '^0:0$' kubectl -n u1 logs root
  expect "and in Ceph" 10001:10001 "$(lab guest 1 find /var/lib/kubelet/plugins -path '*/globalmount/*' -name by-root -printf '%U:%G')"
  HOST_USERS=false ON=$node pod u1 twice roots 0 true
  told "with hostUsers: false it does not start" 'failed to set MOUNT_ATTR_IDMAP.*' kubectl -n u1 describe pod twice
  kubectl -n u1 delete pod own-users root twice --wait=false >/dev/null
}
