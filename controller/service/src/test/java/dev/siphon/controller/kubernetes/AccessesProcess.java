package dev.siphon.controller.kubernetes;

import dev.siphon.csi.BackgroundTasks;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/// A process with a controller's memory that replies to nodes until its input ends.
final class AccessesProcess {
    private AccessesProcess() {}

    /// @param arguments the kubeconfig
    public static void main(String[] arguments) throws IOException {
        KubernetesAccess access = new KubernetesAccess("siphon", Optional.of(Path.of(arguments[0])));
        KubernetesApi api = new KubernetesApi(access, () -> TestCluster.PATIENT);
        DatasetRequests requests = new DatasetRequests(
                api, "cephfs.siphon.dev", new DatasetAccesses(api), (_, _) -> TenantObjectsProcess.OPENED);
        try (DatasetRequests _ = requests.start(new BackgroundTasks())) {
            var _ = System.in.read();
        }
        System.exit(0);
    }
}
