package dev.siphon.controller.check;

import dev.siphon.controller.kubernetes.KubernetesAdapter;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import java.util.List;
import java.util.Optional;

/// Checks that the API server answers, and that the controller has the rights it needs.
///
/// @param kubernetes empty if the controller uses none
public record KubernetesChecks(Optional<KubernetesAdapter> kubernetes) {
    /// Checks each right.
    public void run(Checklist list) {
        if (kubernetes.isEmpty()) {
            list.note("kubernetes", new CheckOutcome.Skipped("--kubernetes-namespace is not given"));
            return;
        }
        var _ = list.check(
                "kubernetes",
                _ -> "the API server that --kubeconfig names, or that of the pod's service account, has to be reachable"
                        + " from here",
                kubernetes.get()::missingRights,
                KubernetesChecks::judge);
    }

    private static CheckOutcome judge(List<String> missing) {
        return missing.isEmpty()
                ? new CheckOutcome.Ok("has all rights that it needs")
                : new CheckOutcome.Failed(
                        "may not " + String.join(", ", missing),
                        "`kubectl apply -k deploy/`, or the rules of docs/reference/objects.md, \"In Kubernetes\"");
    }
}
