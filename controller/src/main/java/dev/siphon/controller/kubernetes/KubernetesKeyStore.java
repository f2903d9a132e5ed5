package dev.siphon.controller.kubernetes;

import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.Secret;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keys as Secrets of the driver's namespace, each called like the PersistentVolume of its volume.
///
/// Which volume has which Secret is remembered, from one listing and from what is written here; but what a
/// Secret holds is always asked for, since people and administrators' commands change them too. Another's
/// Secret is never changed.
final class KubernetesKeyStore implements KeyStore {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesKeyStore.class);
    private static final int TRIES = 2;

    private final KubernetesApi api;
    private final PersistentVolumes persistentVolumes;

    /// Where the Secret of a volume is, or is to be.
    private final Map<VolumeId.Provisioned, String> names = new ConcurrentHashMap<>();

    /// Whether `names` has every Secret that was there when this process began.
    private volatile boolean listed;

    KubernetesKeyStore(KubernetesApi api, PersistentVolumes persistentVolumes) {
        this.api = api;
        this.persistentVolumes = persistentVolumes;
    }

    @Override
    public boolean mayHave(VolumeId.Provisioned volume) {
        return !listed || names.containsKey(volume);
    }

    @Override
    public void named(VolumeId.Provisioned volume, String name) {
        names.putIfAbsent(volume, KeySecret.name(volume, name));
    }

    @Override
    public boolean hasPlaceFor(VolumeId.Provisioned volume) {
        if (!names.containsKey(volume)) {
            persistentVolumes.names().forEach(names::putIfAbsent);
        }
        return names.containsKey(volume);
    }

    @Override
    public void put(VolumeId.Provisioned volume, VolumeKey key) {
        String spare = KeySecret.spareName(volume);
        String name = hasPlaceFor(volume) ? names.getOrDefault(volume, spare) : spare;
        if (!write(name, volume, key)) {
            LOG.warn("{} holds the key of another volume, so that of {} is in {}", secret(name), volume, secret(spare));
            name = spare;
            if (!write(name, volume, key)) {
                throw new DriverException.BackendFault(
                        secret(name) + " holds the key of another volume than " + volume);
            }
        }
        names.put(volume, name);
    }

    /// @return false if the Secret of that name holds the key of another volume
    private boolean write(String name, VolumeId.Provisioned volume, VolumeKey key) {
        for (int left = TRIES; left > 0; left--) {
            if (create(KeySecret.make(name, volume, key, Instant.now()))) {
                return true;
            }
            Optional<Secret> there = get(name);
            if (there.isPresent()) {
                VolumeId.Provisioned holds = KeySecret.volume(there.get())
                        .orElseThrow(() -> new DriverException.InUse(secret(name)
                                + " is not Siphon's and is left as it is, so volume " + volume
                                + " has no key: remove or rename that Secret"));
                if (!holds.equals(volume)) {
                    return false;
                }
                if (replace(KeySecret.replace(there.get(), key, Instant.now()))) {
                    return true;
                }
            }
        }
        throw new DriverException.BackendUnavailable(secret(name) + " is being changed by somebody else; retry");
    }

    private boolean create(Secret made) {
        return api.change(
                "create " + secret(made.getMetadata().getName()),
                List.of(HttpURLConnection.HTTP_CONFLICT),
                server -> server.secrets()
                        .inNamespace(api.namespace())
                        .resource(made)
                        .create());
    }

    /// Not if somebody has changed it since it was read.
    private boolean replace(Secret changed) {
        return api.change(
                "update " + secret(changed.getMetadata().getName()),
                List.of(HttpURLConnection.HTTP_CONFLICT, HttpURLConnection.HTTP_NOT_FOUND),
                server -> server.secrets()
                        .inNamespace(api.namespace())
                        .resource(changed)
                        .update());
    }

    @Override
    public Optional<VolumeKey> find(VolumeId.Provisioned volume) {
        return current(volume).flatMap(KeySecret::key);
    }

    @Override
    public Optional<Instant> since(VolumeId.Provisioned volume) {
        return current(volume)
                .filter(secret -> KeySecret.key(secret).isPresent())
                .map(KeySecret::since);
    }

    private Optional<Secret> current(VolumeId.Provisioned volume) {
        Optional<String> name = Optional.ofNullable(names.get(volume));
        if (name.isPresent()) {
            return get(name.get()).filter(secret -> holds(secret, volume));
        }
        Optional<Secret> found = search(volume).stream().findFirst();
        found.ifPresent(secret -> names.put(volume, secret.getMetadata().getName()));
        return found;
    }

    private Optional<Secret> get(String name) {
        return api.find(
                "get " + secret(name),
                server -> server.secrets()
                        .inNamespace(api.namespace())
                        .withName(name)
                        .get());
    }

    /// All Secrets of a volume, of which a person may have made copies.
    private List<Secret> search(VolumeId.Provisioned volume) {
        List<Secret> found = new ArrayList<>();
        list(KeySecret.of(volume), secret -> {
            if (holds(secret, volume)) {
                found.add(secret);
            }
        });
        return found;
    }

    private static boolean holds(Secret secret, VolumeId.Provisioned volume) {
        return KeySecret.volume(secret).equals(Optional.of(volume));
    }

    @Override
    public void remove(VolumeId.Provisioned volume) {
        for (Secret each : search(volume)) {
            String name = each.getMetadata().getName();
            var _ = api.change(
                    "delete " + secret(name),
                    List.of(HttpURLConnection.HTTP_NOT_FOUND),
                    server -> server.secrets()
                            .inNamespace(api.namespace())
                            .withName(name)
                            .delete());
        }
        names.remove(volume);
    }

    @Override
    public List<VolumeId.Provisioned> volumes() {
        Set<VolumeId.Provisioned> found = new HashSet<>();
        all((volume, _) -> found.add(volume));
        return List.copyOf(found);
    }

    @Override
    public Map<VolumeId.Provisioned, String> userIds() {
        Map<VolumeId.Provisioned, String> found = new HashMap<>();
        all((volume, secret) -> KeySecret.key(secret).ifPresent(key -> found.put(volume, key.userId())));
        return found;
    }

    private void all(BiConsumer<VolumeId.Provisioned, Secret> each) {
        list(
                KeySecret.ALL,
                secret -> KeySecret.volume(secret).ifPresent(volume -> {
                    names.putIfAbsent(volume, secret.getMetadata().getName());
                    each.accept(volume, secret);
                }));
        listed = true;
    }

    private void list(String labels, Consumer<Secret> each) {
        api.<Secret>list(
                "list Secrets in namespace " + api.namespace(),
                labels,
                (server, page) -> server.secrets().inNamespace(api.namespace()).list(page),
                each);
    }

    /// For messages.
    private String secret(String name) {
        return "Secret " + api.namespace() + "/" + name;
    }
}
