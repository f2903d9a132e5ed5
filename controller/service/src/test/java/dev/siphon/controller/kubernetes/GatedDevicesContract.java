package dev.siphon.controller.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.controller.warm.ClusterNode;
import dev.siphon.controller.warm.GatedPod;
import dev.siphon.controller.warm.ResourceAmounts;
import dev.siphon.controller.warm.WarmupCluster;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Devices that pods at the gate request through ResourceClaims, over an API server. No driver serves them.
abstract class GatedDevicesContract {
    private static final String GROUP = "/apis/resource.k8s.io/v1/";

    private final String unique = UUID.randomUUID().toString().substring(0, 8);
    private final String driver = unique + ".gpu.example.com";
    private final String node = "node-" + unique;
    private final List<String> made = new ArrayList<>();

    abstract TestCluster cluster();

    @AfterEach
    void removeWhatWasMade() {
        made.reversed().forEach(path -> cluster().admin().raw(path, "DELETE", """
                {"apiVersion": "v1", "kind": "DeleteOptions", "gracePeriodSeconds": 0}
                """));
        made.clear();
    }

    private String namespaced(String group, String plural) {
        return group + "namespaces/" + cluster().access().namespace() + "/" + plural;
    }

    private String make(String collection, String object) {
        JsonObject there = JsonParser.parseString(cluster().admin().raw(collection, "POST", object))
                .getAsJsonObject();
        made.add(collection + "/" + JsonParts.text(there, "metadata", "name").orElseThrow());
        return made.getLast();
    }

    private String requests(int count) {
        return """
                {"devices": {"requests": [{"name": "gpu", "exactly":
                  {"deviceClassName": "%s", "allocationMode": "ExactCount", "count": %d}}]}}
                """.formatted(driver, count);
    }

    private void makeDevices() {
        var _ = make(GROUP + "deviceclasses", """
                {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "%1$s"},
                 "spec": {"selectors": [{"cel": {"expression": "device.driver == '%1$s' && true"}}]}}
                """.formatted(driver));
        var _ = make("/api/v1/nodes", """
                {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "%s"}}
                """.formatted(node));
        var _ = make(GROUP + "resourceslices", """
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": "%1$s"},
                 "spec": {"driver": "%1$s", "nodeName": "%2$s",
                          "pool": {"name": "%2$s", "generation": 1, "resourceSliceCount": 1},
                          "devices": [{"name": "gpu-0"}, {"name": "gpu-1"}, {"name": "gpu-2"}]}}
                """.formatted(driver, node));
    }

    private void makeTakenClaim() {
        String path = make(namespaced(GROUP, "resourceclaims"), """
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "taken-%s"},
                 "spec": %s}
                """.formatted(unique, requests(1)));
        JsonObject claim = JsonParser.parseString(cluster().admin().raw(path)).getAsJsonObject();
        claim.add("status", JsonParser.parseString("""
                {"allocation": {"devices": {"results": [
                  {"request": "gpu", "driver": "%s", "pool": "%s", "device": "gpu-0"}]}}}
                """.formatted(driver, node)));
        var _ = cluster().admin().raw(path + "/status", "PUT", claim.toString());
    }

    private String number(ResourceAmounts resources) {
        return Optional.ofNullable(resources.amounts().get(DeviceCount.resource(driver)))
                .map(String::valueOf)
                .orElse("none");
    }

    @Test
    void whatAPodAsksForByAClaimIsCountedOnNodes() {
        makeDevices();
        makeTakenClaim();
        var _ = make(namespaced(GROUP, "resourceclaimtemplates"), """
                {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate", "metadata": {"name": "two-%s"},
                 "spec": {"spec": %s}}
                """.formatted(unique, requests(2)));
        var _ = make(namespaced("/api/v1/", "pods"), """
                {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "waiting-%1$s"},
                 "spec": {"serviceAccountName": "siphon-controller", "schedulingGates": [{"name": "siphon.dev/dataset"}],
                          "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "two-%1$s"}],
                          "containers": [{"name": "main", "image": "none", "resources": {"claims": [{"name": "gpu"}]}}]}}
                """.formatted(unique));
        try (KubernetesAdapter adapter = cluster().adapter()) {
            WarmupCluster warming = adapter.warming();
            GatedPod pod = warming.gated(Instant.now()).stream()
                    .filter(each -> each.name().equals("waiting-" + unique))
                    .findFirst()
                    .orElseThrow();
            assertEquals("2", number(pod.needs()));
            ClusterNode there = warming.nodes().stream()
                    .filter(each -> each.name().equals(node))
                    .findFirst()
                    .orElseThrow();
            assertEquals("1 of 3", number(there.taken()) + " of " + number(there.room()));
        }
    }
}
