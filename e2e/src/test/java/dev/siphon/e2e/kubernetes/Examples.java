package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Project;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;

/// The files of deploy/examples/kubernetes, unchanged but for the account and the images. Without a registry, local
/// images of the same programs stand in.
record Examples(Tenant tenant) {
    private static final Path FOLDER = Project.folder().resolve("deploy/examples/kubernetes");

    /// Applies an example in the tenant's namespace.
    void apply(String file) {
        tenant.cluster().apply(tenant.namespace(), text(file));
    }

    /// Returns the text of an example for the tenant.
    String text(String file) {
        return read(FOLDER.resolve(file))
                .replaceAll("image: busybox:\\S*", "image: siphon.test/pause:1")
                .replaceAll("image: (pytorch/|mpi-pytorch:)\\S*", "image: siphon.test/pytorch:1")
                .replace("10001", Integer.toString(tenant.uid()));
    }

    /// Returns the path of a file.
    static Path path(String file) {
        return FOLDER.resolve(file);
    }

    /// Creates the ConfigMap with the training script and its data.
    void addTraining() {
        try {
            var _ = tenant.cluster()
                    .client()
                    .configMaps()
                    .inNamespace(tenant.namespace())
                    .resource(new ConfigMapBuilder()
                            .withNewMetadata()
                            .withName("train")
                            .endMetadata()
                            .addToData("train.py", read(FOLDER.resolve("train.py")))
                            .addToBinaryData(
                                    "digits.csv.gz",
                                    Base64.getEncoder()
                                            .encodeToString(Files.readAllBytes(
                                                    tenant.cluster().lab().run().resolve("digits.csv.gz"))))
                            .build())
                    .create();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    TestPod pod(String name) {
        return tenant.podCalled(name);
    }

    TestJob job(String name) {
        return new TestJob(tenant.cluster(), tenant.namespace(), name);
    }
}
