# Sourced by e2e/waves: a driver that replies immediately (dev.siphon.e2e.noop), with Siphon's own settings.
# shellcheck shell=bash disable=SC2153,SC2016 # JAVA, KUBECONFIG, LAB_* come from e2e/waves and e2e/kubernetes; an awk program
NOOP=noop.siphon.test

# Copies Siphon's objects under another name.
declare_noop() {
  kubectl get csidriver cephfs.siphon.dev -o json | jq --arg name "$NOOP" '{apiVersion, kind, spec} | .metadata.name = $name' |
    kubectl apply -f - >/dev/null
  kubectl get storageclass siphon -o json |
    jq --arg name "$NOOP" '{apiVersion, kind, reclaimPolicy, volumeBindingMode} | .metadata.name = "noop" | .provisioner = $name' |
    kubectl apply -f - >/dev/null
}

# Driver and provisioner are processes of the node, not pods.
start_noop() {
  local flags
  step "a driver that answers at once"
  declare_noop
  mapfile -t flags < <(kubectl -n siphon get deployment siphon-controller -o json |
    jq -r '.spec.template.spec.containers[] | select(.name == "provisioner").args[] | select(startswith("--csi-address=") | not)')
  ((${#flags[@]} > 0)) || failed "the provisioner of Siphon has no flags"
  daemon noop "${JAVA[@]}" dev.siphon.e2e.noop.NoopDriver
  told "drivers of the node" "$NOOP" kubectl get csinodes -o 'jsonpath={.items[0].spec.drivers[*].name}'
  daemon noop-provisioner "$LAB_KUBERNETES/bin/csi-provisioner" "${flags[@]}" \
    --csi-address="/var/lib/kubelet/plugins/$NOOP/csi.sock" --kubeconfig="$KUBECONFIG"
}

stop_noop() {
  step "that driver goes"
  lab sig TERM noop-provisioner
  lab sig TERM noop
  kubectl delete storageclass/noop "csidriver/$NOOP" >/dev/null
  expect "its mounts left" "" "$(lab run awk '$1 == "noop" { print $2 }' /proc/mounts)"
}
