package dev.siphon.controller.kubernetes;

import dev.siphon.controller.key.KeyStore;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import io.fabric8.kubernetes.api.model.Secret;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keys as Secrets of the driver's namespace, each named like the PersistentVolume of its volume.
///
/// It caches which volume has which Secret, from one list and its own writes. It always reads the content of a
/// Secret, since people and administrators' commands change it too. It never changes other Secrets.
final class KubernetesKeyStore implements KeyStore {
    private static final Logger LOG = LoggerFactory.getLogger(KubernetesKeyStore.class);

    private final KeySecrets secrets;
    private final PersistentVolumes persistentVolumes;

    /// The existing or future Secret's name of each volume.
    private final Map<VolumeId.Provisioned, String> names = new ConcurrentHashMap<>();

    /// Namespaces of claims, for volumes found only by their PersistentVolume: not created by this process and
    /// without a Secret.
    private final Map<VolumeId.Provisioned, String> claimed = new ConcurrentHashMap<>();

    /// Whether `names` contains every Secret that existed when this process started.
    private volatile boolean listed;

    KubernetesKeyStore(KubernetesApi api, PersistentVolumes persistentVolumes) {
        this.secrets = new KeySecrets(api);
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
            persistentVolumes.of(volume).ifPresent(standing -> {
                boolean isNew = names.putIfAbsent(volume, standing.name()) == null;
                standing.claim().filter(_ -> isNew).ifPresent(claim -> claimed.put(volume, claim.namespace()));
            });
        }
        return names.containsKey(volume);
    }

    @Override
    public Optional<String> claimedFrom(VolumeId.Provisioned volume) {
        return Optional.ofNullable(claimed.get(volume));
    }

    @Override
    public void put(VolumeId.Provisioned volume, VolumeKey key) {
        String spare = KeySecret.spareName(volume);
        String name = hasPlaceFor(volume) ? names.getOrDefault(volume, spare) : spare;
        if (!secrets.write(name, volume, Optional.of(key))) {
            LOG.warn(
                    "{} holds the key of another volume, so that of {} is in {}",
                    secrets.called(name),
                    volume,
                    secrets.called(spare));
            name = spare;
            if (!secrets.write(name, volume, Optional.of(key))) {
                throw new DriverException.BackendFault(
                        secrets.called(name) + " holds the key of another volume than " + volume);
            }
        }
        names.put(volume, name);
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
            return secrets.get(name.get()).filter(secret -> KeySecrets.holds(secret, volume));
        }
        Optional<Secret> found = secrets.search(volume).stream().findFirst();
        found.ifPresent(secret -> names.put(volume, secret.getMetadata().getName()));
        return found;
    }

    @Override
    public void remove(VolumeId.Provisioned volume) {
        secrets.remove(volume);
        names.remove(volume);
        claimed.remove(volume);
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
        secrets.list(
                KeySecret.ALL,
                secret -> provisioned(secret).ifPresent(volume -> {
                    names.putIfAbsent(volume, secret.getMetadata().getName());
                    each.accept(volume, secret);
                }));
        listed = true;
    }

    private static Optional<VolumeId.Provisioned> provisioned(Secret secret) {
        return KeySecret.volume(secret)
                .filter(VolumeId.Provisioned.class::isInstance)
                .map(VolumeId.Provisioned.class::cast);
    }
}
