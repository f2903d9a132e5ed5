# Sourced by e2e/kubernetes: deploy/examples/kubernetes in u1's namespace, as they stand but for the images' names.
# shellcheck shell=bash disable=SC2153 # PROJECT and LAB_* come from e2e/kubernetes
EXAMPLES=$PROJECT/deploy/examples/kubernetes
PYTORCH=${LAB_KUBERNETES%/*}/pytorch

# example NAMESPACE FILE...: no registry is at hand, so images of the same programs stand in.
example() {
  local namespace=$1 file
  shift
  for file in "$@"; do
    sed -E 's|image: busybox:.*|image: siphon.test/pause:1|; s|image: pytorch/.*|image: siphon.test/pytorch:1|' \
      "$EXAMPLES/$file" | kubectl -n "$namespace" apply -f - >/dev/null
  done
}

succeeds() { settles "pod $2" -n "$1" --for=jsonpath='{.status.phase}'=Succeeded "pod/$2"; }
logs_of_job() { kubectl -n "$1" logs -l "batch.kubernetes.io/job-name=$2" --tail=-1; }

begin_examples() {
  step "the examples of deploy/examples/kubernetes, all at once"
  "$E2E/lab.d/kubernetes/pytorch" "${LAB_KUBERNETES%/*}"
  # a lab that runs does not see what comes into that folder
  cp "$PYTORCH/digits.csv.gz" "$LAB_RUN"
  lab run "$LAB_KUBERNETES/bin/ctr" -n k8s.io images import - <"$PYTORCH/image.tar" >"$LAB_RUN/log/pytorch.log"
  kubectl -n u1 create configmap train --from-file="$EXAMPLES/train.py" --from-file="$LAB_RUN/digits.csv.gz" >/dev/null
  example u1 training.yaml ranks.yaml statefulset.yaml home.yaml expansion.yaml over-quota.yaml
}

end_examples() {
  step "what has become of them"
  succeeds u1 home
  kubectl -n u1 delete pod/home pvc/home >/dev/null
  example u1 home.yaml
  expand
  trained
  settles "over-quota.yaml" -n u1 --for=condition=Failed job/over-quota
  shows "over-quota.yaml, kubectl describe pod" 'quota exceeded' \
    "$(kubectl -n u1 describe pods -l batch.kubernetes.io/job-name=over-quota)"
  replaced
  succeeds u1 home
  expect "home.yaml after the claim was made anew" "was here,was here" "$(kubectl -n u1 logs home | paste -sd,)"
  succeeds u1 growing
  settles "ranks.yaml once more" -n u1 --for=condition=Complete job/ranks
  expect "ranks that went on from the checkpoint" 2 "$(logs_of_job u1 ranks | grep -c 'goes on after epoch 10')"
}

trained() {
  succeeds u1 training
  shows "training.yaml" 'rank 0 of 1: .* (9[0-9]|100)% of' "$(kubectl -n u1 logs training)"
  settles "ranks.yaml" -n u1 --for=condition=Complete job/ranks
  shows "ranks.yaml" 'rank 0 of 2: .* (9[0-9]|100)% of' "$(logs_of_job u1 ranks)"
  shows "ranks.yaml" 'rank 1 of 2: .* (9[0-9]|100)% of' "$(logs_of_job u1 ranks)"
  expect "ranks that had to begin again" "" "$(logs_of_job u1 ranks | grep -E '^rank [0-9]: |Error')"
  kubectl -n u1 delete job ranks >/dev/null
  example u1 ranks.yaml
}

expand() {
  local name group
  told "expansion.yaml" 'quota exceeded' kubectl -n u1 logs growing
  kubectl -n u1 patch pvc growing -p '{"spec": {"resources": {"requests": {"storage": "512Mi"}}}}' >/dev/null
  settles "the claim" -n u1 --for=jsonpath='{.status.capacity.storage}'=512Mi pvc/growing
  read -r name group < <(subvolume u1 growing)
  expect "its quota in Ceph" 536870912 "$(lab ceph fs subvolume info "$FS_NAME" "$name" "$group" | jq .bytes_quota)"
}

replaced() {
  settles "statefulset.yaml" -n u1 --for=jsonpath='{.status.readyReplicas}'=2 statefulset/server
  kubectl -n u1 delete pod server-0 >/dev/null
  kubectl -n u1 wait --for=create --timeout=60s pod/server-0 >/dev/null
  settles "its first pod" -n u1 --for=condition=Ready pod/server-0
  expect "what the new pod found" "server-0,server-0" "$(kubectl -n u1 exec server-0 -- cat /state/starts | paste -sd,)"
  expect "what the other one has" server-1 "$(kubectl -n u1 exec server-1 -- cat /state/starts)"
}

# definition MODULE@VERSION SUM FILE: a custom resource as its operator's module has it.
definition() {
  local module
  module=$(cd / && go mod download -json "$1")
  expect "sum of $1" "$2" "$(jq -r .Sum <<<"$module")"
  kubectl apply --server-side -f - >/dev/null <"$(jq -r .Dir <<<"$module")/$3"
}

operators() {
  local file
  step "PyTorchJob and MPIJob by their operators' schemas; neither operator runs"
  definition github.com/kubeflow/training-operator@v1.9.3 h1:aaSHqskOtCY8Dn8sVd+l9p5XAczW6O0nYMPjVLAw/lc= \
    manifests/base/crds/kubeflow.org_pytorchjobs.yaml
  definition github.com/kubeflow/mpi-operator@v0.6.0 h1:RzzG03oyQIiHe/SH2k19N+Hp4QkxEsG2l9G1T7US+ys= \
    manifests/base/kubeflow.org_mpijobs.yaml
  kubectl wait --for=condition=Established --timeout=60s crd/pytorchjobs.kubeflow.org crd/mpijobs.kubeflow.org >/dev/null
  for file in pytorchjob.yaml mpijob.yaml; do
    kubectl -n u1 apply --dry-run=server --validate=strict -f "$EXAMPLES/$file" >/dev/null || failed "$file"
    if sed 's/volumeMounts:/volumeMount:/' "$EXAMPLES/$file" |
      kubectl -n u1 apply --dry-run=server --validate=strict -f - >"$LAB_RUN/log/strict.log" 2>&1; then
      failed "$file with a wrong word passes"
    fi
    shows "$file passes, and with a wrong word" 'unknown field.*volumeMount' "$(cat "$LAB_RUN/log/strict.log")"
  done
}
