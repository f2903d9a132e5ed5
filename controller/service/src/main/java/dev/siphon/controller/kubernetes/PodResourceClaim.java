package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.explain.NamespacedName;
import java.util.List;
import java.util.Optional;

/// A ResourceClaim that a pod asks for (`resource.k8s.io/v1`).
///
/// @param namespace the pod's
/// @param path of the claim or template
/// @param claim the [DeviceAllocation#key] of a claim that other pods may share; empty for a template
record PodResourceClaim(String namespace, String path, Optional<Long> claim) {
    /// The path of the API group.
    static final String GROUP = "apis/resource.k8s.io/v1/";

    /// Returns a pod's claims.
    static List<PodResourceClaim> of(JsonObject pod) {
        String namespace = JsonParts.text(pod, "metadata", "namespace").orElse("");
        String path = GROUP + "namespaces/" + namespace + "/";
        return JsonParts.each(pod, "spec", "resourceClaims")
                .flatMap(each -> name(each, "resourceClaimTemplateName")
                        .map(name -> new PodResourceClaim(
                                namespace, path + "resourceclaimtemplates/" + name, Optional.empty()))
                        .or(() -> name(each, "resourceClaimName")
                                .map(name -> new PodResourceClaim(
                                        namespace,
                                        path + "resourceclaims/" + name,
                                        Optional.of(DeviceAllocation.key(namespace, name)))))
                        .stream())
                .toList();
    }

    /// Users choose names, and the name becomes part of a path.
    private static Optional<String> name(JsonObject object, String field) {
        return JsonParts.text(object, field).filter(NamespacedName::isPart);
    }
}
