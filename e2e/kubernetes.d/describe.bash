# Sourced by e2e/kubernetes: docs/describe.md, what kubectl describe shows people.
# shellcheck shell=bash disable=SC2153 # PROJECT and LAB_* come from e2e/kubernetes
DESCRIBED=$PROJECT/docs/describe.md

# What differs from run to run is made the same; events are in no particular order, and may be repeated.
alike() {
  sed -E -e 's/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/UUID/g' -e 's/\b([a-z])[0-9a-v]{20,}/\1HASH/g' \
    -e "s/${LAB_ADDRESS//./\\.}/10.0.0.1/g" -e 's/siphon-controller-[0-9a-z]+-[0-9a-z]+/siphon-controller-POD/g' \
    -e 's/[0-9]{13}-[0-9]+-cephfs/NUMBERS-cephfs/' -e 's/[[:space:]]+$//' |
    awk -F '  +' '
      !events { print }
      /^Events:/ { events = 1; next }
      events && NF >= 6 && $2 !~ /^(Type|----)$/ { print "  " $2 "  " $3 "  1s  " $5 "  " $6 | "sort -u" }'
}

# described TITLE COMMAND TEXT
described() {
  # shellcheck disable=SC2016 # a fence of Markdown
  printf '\n## %s\n\n```\n$ %s\n%s\n```\n' "$1" "$2" "$(alike <<<"$3")" >>"$LAB_RUN/describe.md"
}

# keeps_secret VOLUME: the volume's key is nowhere in what is described.
keeps_secret() {
  local key
  key=$(kubectl -n siphon get secret "$1" -o 'jsonpath={.data.userKey}' | base64 -d)
  ((${#key} > 30)) || failed "no key of $1"
  if grep -qF -f <(printf '%s\n' "$key") "$LAB_RUN/describe.md"; then failed "kubectl describe shows a key"; fi
}

describe() {
  local volume
  step "what kubectl describe shows, as in docs/describe.md"
  cat >"$LAB_RUN/describe.md" <<'DOCUMENT'
# What `kubectl describe` shows

Recorded by `make kubernetes` on a real Kubernetes 1.36 and Ceph 20, which compares it each time; `make kubernetes
RECORD=yes` writes it anew. Ids, times and addresses are made alike, and events are sorted.
DOCUMENT
  kubectl create namespace u7 >/dev/null
  claim u7 data 20Gi
  claim u7 huge 200Gi
  settles "u7's claim" -n u7 --for=jsonpath='{.status.phase}'=Bound pvc/data
  told "kubectl describe pvc" 'code = ResourceExhausted desc = .*' kubectl -n u7 describe pvc huge
  # events come by themselves, some after what they tell of
  told "an event" 'Normal +ProvisioningSucceeded' kubectl -n u7 describe pvc data
  told "an event" 'Normal +ExternalProvisioning' kubectl -n u7 describe pvc data
  told "an event" 'Normal +ExternalProvisioning' kubectl -n u7 describe pvc huge
  volume=$(kubectl -n u7 get pvc data -o 'jsonpath={.spec.volumeName}')
  described "A claim" "kubectl -n u7 describe pvc data" "$(kubectl -n u7 describe pvc data)"
  described "Its volume" "kubectl describe pv pvc-UUID" "$(kubectl describe pv "$volume")"
  keeps_secret "$volume"
  described "A claim for more than the account has left" "kubectl -n u7 describe pvc huge" "$(kubectl -n u7 describe pvc huge)"
  kubectl -n u7 delete pvc huge >/dev/null
  if [[ ${RECORD:-} == yes ]]; then cp "$LAB_RUN/describe.md" "$DESCRIBED"; fi
  diff -u "$DESCRIBED" "$LAB_RUN/describe.md" >&2 || failed "docs/describe.md is not what kubectl shows; RECORD=yes writes it"
  echo "   it is"
}
