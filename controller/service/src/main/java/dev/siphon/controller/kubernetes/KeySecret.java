package dev.siphon.controller.kubernetes;

import dev.siphon.controller.explain.NamespacedName;
import dev.siphon.controller.key.VolumeKey;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.VolumeSecret;
import io.fabric8.kubernetes.api.model.Secret;
import io.fabric8.kubernetes.api.model.SecretBuilder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// Converts a volume's key to a Secret and back. A class may demand a Secret even for volumes without a key; that
/// Secret holds none. All names in such Secrets are in this file.
final class KeySecret {
    static final String MANAGED_BY = "app.kubernetes.io/managed-by";
    static final String SIPHON = "siphon";

    private static final String TYPE = "siphon.dev/volume-key";

    /// Label to find the Secret of a volume: a volume id may contain characters that a label cannot.
    private static final String HASH = "siphon.dev/volume-hash";

    /// Label to find the Secrets of all volumes that show one dataset.
    private static final String DATASET = "siphon.dev/dataset-hash";

    /// Selects the keys of all volumes.
    static final String ALL = MANAGED_BY + "=" + SIPHON + "," + HASH;

    /// Selects the keys of all volumes that show datasets.
    static final String OF_DATASETS = MANAGED_BY + "=" + SIPHON + "," + DATASET;

    private static final int HASH_BYTES = 16;

    /// Annotation with the volume's full id.
    private static final String VOLUME = "siphon.dev/volume";

    /// Annotation with the time since when the Secret holds this key.
    private static final String SINCE = "siphon.dev/key-since";

    private KeySecret() {}

    /// Returns the name for the Secret of a volume that the CO calls `name`: the same name, since the class's
    /// `${pv.name}` leads nodes there. If it is no valid name, [#spareName].
    static String name(VolumeId volume, String name) {
        return NamespacedName.isPart(name) && !name.contains("..") ? name : spareName(volume);
    }

    /// Returns a name that no other volume's Secret has.
    static String spareName(VolumeId volume) {
        return "siphon-" + hash(volume);
    }

    /// Selects the Secrets that may belong to a volume.
    static String of(VolumeId volume) {
        return MANAGED_BY + "=" + SIPHON + "," + HASH + "=" + hash(volume);
    }

    /// Selects the Secrets that may belong to volumes that show a dataset.
    static String ofDataset(VolumeId.DatasetVolume dataset) {
        return MANAGED_BY + "=" + SIPHON + "," + DATASET + "=" + hash(dataset.withoutClaim());
    }

    private static Map<String, String> labels(VolumeId volume) {
        Map<String, String> labels = new TreeMap<>(Map.of(MANAGED_BY, SIPHON, HASH, hash(volume)));
        if (volume instanceof VolumeId.DatasetVolume dataset) {
            labels.put(DATASET, hash(dataset.withoutClaim()));
        }
        return labels;
    }

    /// @param key empty for a Secret that only names its volume
    static Secret make(String name, VolumeId volume, Optional<VolumeKey> key, Instant now) {
        return new SecretBuilder()
                .withNewMetadata()
                .withName(name)
                .withLabels(labels(volume))
                .withAnnotations(Map.of(VOLUME, volume.toString(), SINCE, now.toString()))
                .endMetadata()
                .withType(TYPE)
                .withImmutable(false)
                .withData(data(volume, key))
                .build();
    }

    /// Returns a copy of a Secret with another key, or none; other content that people added stays.
    static Secret replace(Secret there, VolumeId volume, Optional<VolumeKey> key, Instant now) {
        return new SecretBuilder(there)
                .editMetadata()
                .addToAnnotations(SINCE, now.toString())
                .endMetadata()
                .withData(data(volume, key))
                .build();
    }

    /// Returns the volume whose key a Secret holds; empty if the Secret is not Siphon's.
    static Optional<VolumeId> volume(Secret secret) {
        return TYPE.equals(secret.getType())
                        && SIPHON.equals(secret.getMetadata().getLabels().get(MANAGED_BY))
                ? Optional.ofNullable(secret.getMetadata().getAnnotations().get(VOLUME))
                        .flatMap(VolumeId::tryParse)
                : Optional.empty();
    }

    /// Returns the key in a Secret; empty if it is broken, so that a new one replaces it.
    static Optional<VolumeKey> key(Secret secret) {
        return text(secret, VolumeSecret.USER_ID)
                .flatMap(id -> text(secret, VolumeSecret.USER_KEY).map(key -> new VolumeKey(id, key)));
    }

    /// Returns the time since when the Secret holds this key.
    static Instant since(Secret secret) {
        String made = secret.getMetadata().getCreationTimestamp();
        try {
            return Instant.parse(secret.getMetadata().getAnnotations().getOrDefault(SINCE, made));
        } catch (DateTimeParseException _) {
            return Instant.parse(made);
        }
    }

    private static Map<String, String> data(VolumeId volume, Optional<VolumeKey> key) {
        Map<String, String> data = new TreeMap<>(Map.of(VolumeSecret.VOLUME_ID, encoded(volume.toString())));
        key.ifPresent(known -> data.putAll(
                Map.of(VolumeSecret.USER_ID, encoded(known.userId()), VolumeSecret.USER_KEY, encoded(known.secret()))));
        return data;
    }

    private static String encoded(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static Optional<String> text(Secret secret, String name) {
        try {
            return Optional.ofNullable(secret.getData())
                    .map(data -> data.get(name))
                    .map(value -> new String(Base64.getDecoder().decode(value), StandardCharsets.UTF_8))
                    .filter(value -> !value.isEmpty());
        } catch (IllegalArgumentException _) {
            return Optional.empty();
        }
    }

    private static String hash(VolumeId volume) {
        try {
            byte[] sha256 = MessageDigest.getInstance("SHA-256")
                    .digest(volume.toString().getBytes(StandardCharsets.UTF_8));
            return HexFormat.of().formatHex(sha256, 0, HASH_BYTES);
        } catch (NoSuchAlgorithmException missing) {
            throw new IllegalStateException("every Java platform has SHA-256", missing);
        }
    }
}
