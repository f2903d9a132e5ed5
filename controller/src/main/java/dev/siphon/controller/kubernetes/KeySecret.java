package dev.siphon.controller.kubernetes;

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
import java.util.regex.Pattern;

/// The key of a volume as a Secret, which is there without a key where a class makes volumes name one that needs
/// none; all names in such Secrets are in this file.
final class KeySecret {
    static final String MANAGED_BY = "app.kubernetes.io/managed-by";
    static final String SIPHON = "siphon";

    private static final String TYPE = "siphon.dev/volume-key";

    /// The label by which the Secret of a volume is found: an id may hold what a label cannot.
    private static final String HASH = "siphon.dev/volume-hash";

    /// The label by which the Secrets of all volumes that show one dataset are found.
    private static final String DATASET = "siphon.dev/dataset-hash";

    /// Which Secrets are keys of volumes.
    static final String ALL = MANAGED_BY + "=" + SIPHON + "," + HASH;

    /// Which Secrets are keys of volumes that show datasets.
    static final String OF_DATASETS = MANAGED_BY + "=" + SIPHON + "," + DATASET;

    private static final int HASH_BYTES = 16;

    /// The annotation with the volume's whole id.
    private static final String VOLUME = "siphon.dev/volume";

    /// The annotation that says since when it is this key.
    private static final String SINCE = "siphon.dev/key-since";

    /// Kubernetes, "Object Names and IDs": DNS subdomain.
    private static final Pattern NAME = Pattern.compile("[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?");

    private KeySecret() {}

    /// The name for the Secret of a volume that the CO calls `name`: the same, for that is what the class's
    /// `${pv.name}` leads nodes to.
    static String name(VolumeId volume, String name) {
        return NAME.matcher(name).matches() && !name.contains("..") ? name : spareName(volume);
    }

    /// A name that no other volume's Secret has.
    static String spareName(VolumeId volume) {
        return "siphon-" + hash(volume);
    }

    /// Which Secrets may be those of a volume.
    static String of(VolumeId volume) {
        return MANAGED_BY + "=" + SIPHON + "," + HASH + "=" + hash(volume);
    }

    /// Which Secrets may be those of volumes that show a dataset.
    static String ofDataset(VolumeId.DatasetVolume dataset) {
        return MANAGED_BY + "=" + SIPHON + "," + DATASET + "=" + hash(dataset.forNobody());
    }

    private static Map<String, String> labels(VolumeId volume) {
        Map<String, String> labels = new TreeMap<>(Map.of(MANAGED_BY, SIPHON, HASH, hash(volume)));
        if (volume instanceof VolumeId.DatasetVolume dataset) {
            labels.put(DATASET, hash(dataset.forNobody()));
        }
        return labels;
    }

    /// @param key empty for one that names its volume and opens nothing
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

    /// The same Secret with another key, or none; what else people wrote on it stays.
    static Secret replace(Secret there, VolumeId volume, Optional<VolumeKey> key, Instant now) {
        return new SecretBuilder(there)
                .editMetadata()
                .addToAnnotations(SINCE, now.toString())
                .endMetadata()
                .withData(data(volume, key))
                .build();
    }

    /// The volume whose key a Secret holds; empty if it is not Siphon's.
    static Optional<VolumeId> volume(Secret secret) {
        return TYPE.equals(secret.getType())
                        && SIPHON.equals(secret.getMetadata().getLabels().get(MANAGED_BY))
                ? Optional.ofNullable(secret.getMetadata().getAnnotations().get(VOLUME))
                        .flatMap(VolumeId::tryParse)
                : Optional.empty();
    }

    /// The key in a Secret; empty if it is broken, so that a new one replaces it.
    static Optional<VolumeKey> key(Secret secret) {
        return text(secret, VolumeSecret.USER_ID)
                .flatMap(id -> text(secret, VolumeSecret.USER_KEY).map(key -> new VolumeKey(id, key)));
    }

    /// Since when it is this key.
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
