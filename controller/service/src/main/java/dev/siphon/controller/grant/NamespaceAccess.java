package dev.siphon.controller.grant;

import dev.siphon.csi.Grants;
import dev.siphon.csi.dataset.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// What the pods of a namespace may use, for people to see. The driver's own namespace lists the datasets that
/// everybody may read.
///
/// @param key the object that shows it
/// @param accounts names of the accounts whose volumes it may use, by their groups' places
/// @param datasets the datasets that it may read, by name
public record NamespaceAccess(
        Key key, SortedMap<String, String> accounts, SortedMap<String, ReadableDataset> datasets) {
    /// The name of a namespace's object.
    public static final String OBJECT = "siphon";

    /// The name prefix of objects for everybody; a number follows.
    public static final String EVERYBODY = "everybody-";

    /// How many datasets an object for everybody lists.
    static final int OF_EVERYBODY = 500;

    public NamespaceAccess {
        accounts = Collections.unmodifiableSortedMap(new TreeMap<>(accounts));
        datasets = Collections.unmodifiableSortedMap(new TreeMap<>(datasets));
    }

    /// The namespace and name of an object.
    public record Key(String namespace, String object) implements Comparable<Key> {
        @Override
        public int compareTo(Key other) {
            return toString().compareTo(other.toString());
        }

        @Override
        public String toString() {
            return namespace + "/" + object;
        }
    }

    /// A dataset that a namespace may read.
    ///
    /// @param bytes its size; 0 if unknown
    /// @param ready whether volumes can show it now
    /// @param replicas replicas on nodes' disks; empty if no pod of the namespace uses the dataset or waits for
    ///     it
    public record ReadableDataset(long bytes, boolean ready, Optional<ReplicaSummary> replicas) {
        static final ReadableDataset UNKNOWN = new ReadableDataset(0, false);

        public ReadableDataset(long bytes, boolean ready) {
            this(bytes, ready, Optional.empty());
        }

        ReadableDataset with(Optional<ReplicaSummary> now) {
            return new ReadableDataset(bytes, ready, now);
        }
    }

    /// How many nodes have a replica of a dataset. Only administrators see which ones, because node names may
    /// reveal other tenants' jobs.
    ///
    /// @param local nodes with a full replica
    /// @param filling nodes that are ordered to get one and have not failed
    /// @param failed nodes that could not get one
    /// @param percent how much of the replicas being filled is there, in steps of [#STEP]; 100 if none is filling
    public record ReplicaSummary(int local, int filling, int failed, int percent) {
        /// Rounding limits writes to one per step, however often nodes report progress.
        public static final int STEP = 10;
    }

    /// Returns whether `other` has everything that this has.
    boolean isWithin(NamespaceAccess other) {
        return other.accounts().keySet().containsAll(accounts.keySet())
                && other.datasets().keySet().containsAll(datasets.keySet());
    }

    /// Returns a digest of the content.
    public String digest() {
        return Digest.of(ByteBuffer.wrap(toString().getBytes(StandardCharsets.UTF_8)))
                .beginning();
    }

    /// Returns the objects of all namespaces.
    ///
    /// @param details the datasets by name
    /// @param replicas the datasets that pods of a namespace use or wait for, by namespace and name
    /// @param own the driver's namespace
    static SortedMap<Key, NamespaceAccess> of(
            Grants grants,
            Map<String, ReadableDataset> details,
            Map<String, Map<String, ReplicaSummary>> replicas,
            String own) {
        SortedMap<Key, SortedMap<String, String>> accounts = new TreeMap<>();
        SortedMap<Key, SortedMap<String, ReadableDataset>> datasets = new TreeMap<>();
        grants.groups()
                .forEach((place, grant) -> grant.namespaces()
                        .forEach(namespace -> accounts.computeIfAbsent(new Key(namespace, OBJECT), _ -> new TreeMap<>())
                                .put(place.toString(), grant.account())));
        SortedMap<String, ReadableDataset> everybodys = new TreeMap<>();
        grants.datasets().forEach((name, shared) -> {
            ReadableDataset dataset = details.getOrDefault(name, ReadableDataset.UNKNOWN);
            if (shared.everybody()) {
                everybodys.put(name, dataset);
            }
            shared.namespaces()
                    .forEach(namespace -> datasets.computeIfAbsent(new Key(namespace, OBJECT), _ -> new TreeMap<>())
                            .put(
                                    name,
                                    dataset.with(Optional.ofNullable(replicas.getOrDefault(namespace, Map.of())
                                            .get(name)))));
        });
        int number = 0;
        for (Map.Entry<String, ReadableDataset> each : everybodys.entrySet()) {
            datasets.computeIfAbsent(new Key(own, EVERYBODY + number / OF_EVERYBODY), _ -> new TreeMap<>())
                    .put(each.getKey(), each.getValue());
            number++;
        }
        SortedMap<Key, NamespaceAccess> all = new TreeMap<>();
        accounts.forEach((key, some) -> all.put(key, new NamespaceAccess(key, some, new TreeMap<>())));
        datasets.forEach((key, some) ->
                all.put(key, new NamespaceAccess(key, accounts.getOrDefault(key, new TreeMap<>()), some)));
        return all;
    }
}
