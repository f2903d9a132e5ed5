package dev.siphon.controller.kubernetes;

import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.ListOptionsBuilder;
import io.fabric8.kubernetes.api.model.Secret;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/// Reads and writes the Secrets with keys of volumes, in the driver's namespace. It never changes other Secrets.
final class KeySecrets {
    private static final int TRIES = 2;

    private final KubernetesApi api;

    KeySecrets(KubernetesApi api) {
        this.api = api;
    }

    /// @return false if the Secret of that name holds the key of another volume
    boolean write(String name, VolumeId volume, Optional<VolumeKey> key) {
        for (int left = TRIES; left > 0; left--) {
            if (create(KeySecret.make(name, volume, key, Instant.now()))) {
                return true;
            }
            Optional<Secret> there = get(name);
            if (there.isPresent()) {
                VolumeId holds = KeySecret.volume(there.get())
                        .orElseThrow(() -> new DriverException.InUse(called(name)
                                + " is not Siphon's and is left as it is, so volume " + volume
                                + " has no key: remove or rename that Secret"));
                if (!holds.equals(volume)) {
                    return false;
                }
                if (replace(KeySecret.replace(there.get(), volume, key, Instant.now()))) {
                    return true;
                }
            }
        }
        throw new DriverException.BackendUnavailable(called(name) + " is being changed by somebody else; retry");
    }

    private boolean create(Secret made) {
        return api.change(
                "create " + called(made.getMetadata().getName()),
                List.of(HttpURLConnection.HTTP_CONFLICT),
                server -> server.secrets()
                        .inNamespace(api.namespace())
                        .resource(made)
                        .create());
    }

    /// Returns false if the Secret was changed or deleted since it was read.
    private boolean replace(Secret changed) {
        return api.change(
                "update " + called(changed.getMetadata().getName()),
                List.of(HttpURLConnection.HTTP_CONFLICT, HttpURLConnection.HTTP_NOT_FOUND),
                server -> server.secrets()
                        .inNamespace(api.namespace())
                        .resource(changed)
                        .update());
    }

    Optional<Secret> get(String name) {
        return api.find(
                "get " + called(name),
                server -> server.secrets()
                        .inNamespace(api.namespace())
                        .withName(name)
                        .get());
    }

    /// Returns all Secrets of a volume: a person may have made copies.
    List<Secret> search(VolumeId volume) {
        List<Secret> found = new ArrayList<>();
        list(KeySecret.of(volume), secret -> {
            if (holds(secret, volume)) {
                found.add(secret);
            }
        });
        return found;
    }

    static boolean holds(Secret secret, VolumeId volume) {
        return KeySecret.volume(secret).equals(Optional.of(volume));
    }

    /// Deletes every Secret with the key of a volume.
    void remove(VolumeId volume) {
        for (Secret each : search(volume)) {
            String name = each.getMetadata().getName();
            var _ = api.change(
                    "delete " + called(name),
                    List.of(HttpURLConnection.HTTP_NOT_FOUND),
                    server -> server.secrets()
                            .inNamespace(api.namespace())
                            .withName(name)
                            .delete());
        }
    }

    void list(String labels, Consumer<Secret> each) {
        api.<Secret>list(
                "list Secrets in namespace " + api.namespace(),
                labels,
                (server, page) -> server.secrets().inNamespace(api.namespace()).list(page),
                each);
    }

    /// Whether a Secret with these labels exists.
    boolean isAny(String labels) {
        return api.find(
                        "list Secrets in namespace " + api.namespace(),
                        server -> server.secrets()
                                .inNamespace(api.namespace())
                                .list(new ListOptionsBuilder()
                                        .withLabelSelector(labels)
                                        .withLimit(1L)
                                        .build()))
                .filter(found -> !found.getItems().isEmpty())
                .isPresent();
    }

    /// Returns a Secret's name for messages.
    String called(String name) {
        return "Secret " + api.namespace() + "/" + name;
    }
}
