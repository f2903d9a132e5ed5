package dev.siphon.node.rpc;

import csi.v1.NodeGetStorageHealthResponse;
import csi.v1.NodeGetStorageHealthResponse.StorageBackendHealth;
import csi.v1.StorageHealthErrorType;
import dev.siphon.csi.MonitorReachability.UnreachableCluster;
import java.util.List;
import java.util.stream.Collectors;

/// Reports the unreachable clusters. CSI allows one entry per status and reason, so clusters in the same state
/// share one.
final class StorageHealthReport {
    private StorageHealthReport() {}

    static NodeGetStorageHealthResponse of(List<UnreachableCluster> findings) {
        NodeGetStorageHealthResponse.Builder response = NodeGetStorageHealthResponse.newBuilder();
        List<UnreachableCluster> cutOff =
                findings.stream().filter(UnreachableCluster::isCutOff).toList();
        List<UnreachableCluster> partly =
                findings.stream().filter(f -> !f.isCutOff()).toList();
        if (!cutOff.isEmpty()) {
            response.addBackendHealth(entry(
                    StorageHealthErrorType.STORAGE_UNREACHABLE,
                    "MonitorsUnreachable",
                    "no monitor answers in the clusters " + clusters(cutOff)));
        }
        if (!partly.isEmpty()) {
            response.addBackendHealth(entry(
                    StorageHealthErrorType.STORAGE_DEGRADED,
                    "MonitorsPartlyUnreachable",
                    "these monitors do not answer: " + silent(partly)));
        }
        return response.build();
    }

    private static StorageBackendHealth entry(StorageHealthErrorType status, String reason, String message) {
        return StorageBackendHealth.newBuilder()
                .setStatus(status)
                .setReason(reason)
                .setMessage(message)
                .build();
    }

    private static String clusters(List<UnreachableCluster> findings) {
        return findings.stream().map(f -> f.cluster().toString()).collect(Collectors.joining("; "));
    }

    private static String silent(List<UnreachableCluster> findings) {
        return findings.stream()
                .flatMap(f -> f.unreachable().stream())
                .map(Object::toString)
                .distinct()
                .collect(Collectors.joining(", "));
    }
}
