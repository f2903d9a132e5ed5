# Sourced by functions.bash: datasets that an administrator declares, and their readers.
# shellcheck shell=bash disable=SC2016,SC2119,SC2120 # scripts for the lab's shell; e2e/gpu-wait has one to seal

# seal_a_dataset [SCRIPT [NAME]]: seals u2/NAME from the files that the script creates, as an administrator whose client
# sees the whole file system. Prints the object that declares it.
seal_a_dataset() {
  local fifty='mkdir one two; for n in {1..50}; do head -c $((n * 1000)) /dev/urandom >"one/$n"; done; echo seven >two/7'
  lab run bash -euo pipefail -c '
    at=$(mktemp -d)
    ceph-fuse --id admin --client_fs "$FS_NAME" "$at" 2>/dev/null >/dev/null
    trap "umount -l $at; rmdir $at" EXIT
    mkdir "$at/source"
    (cd "$at/source" && eval "$2")
    "$1" dataset seal --name "u2/$3" --mount "$at" --fs-name "$FS_NAME" --source "$at/source" --reader u2
    rm -rf "$at/source"' bash "$SIPHON" "${1:-$fifty}" "${2:-digits}"
}

declare_digits() { # READERS
  jq --argjson readers "$1" '.spec.readers = $readers' <<<"$SEALED" | kubectl apply -f - >/dev/null
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

dataset_identities() { lab run ceph auth ls 2>/dev/null | grep -c '^client.siphon-dataset' || true; }
