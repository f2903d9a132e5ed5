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

/// What the pods of a namespace may use, for people to see; or, in the driver's namespace, datasets that
/// everybody may.
///
/// @param key where that is shown
/// @param accounts whose volumes it may use: names, by the places of their groups
/// @param datasets that it may read, by their names
public record NamespaceAccess(
        Key key, SortedMap<String, String> accounts, SortedMap<String, ReadableDataset> datasets) {
    /// What the object of a namespace is called.
    public static final String OBJECT = "siphon";

    /// What those are called that are everybody's, with a number behind.
    public static final String EVERYBODY = "everybody-";

    /// How many datasets of everybody's one object has.
    static final int OF_EVERYBODY = 500;

    public NamespaceAccess {
        accounts = Collections.unmodifiableSortedMap(new TreeMap<>(accounts));
        datasets = Collections.unmodifiableSortedMap(new TreeMap<>(datasets));
    }

    /// Names one of these.
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

    /// A dataset.
    ///
    /// @param bytes how long it is; 0 if nobody has said that
    /// @param ready whether volumes can show it now
    /// @param replicas on disks of nodes; empty where no pod of the namespace uses it, or waits for it
    public record ReadableDataset(long bytes, boolean ready, Optional<ReplicaSummary> replicas) {
        static final ReadableDataset UNKNOWN = new ReadableDataset(0, false);

        public ReadableDataset(long bytes, boolean ready) {
            this(bytes, ready, Optional.empty());
        }

        ReadableDataset with(Optional<ReplicaSummary> now) {
            return new ReadableDataset(bytes, ready, now);
        }
    }

    /// How many nodes have a dataset on a disk of theirs. Which ones is for administrators: a name of a node may
    /// tell of other tenants' jobs.
    ///
    /// @param local nodes that have all of it
    /// @param filling nodes that are to get it, and are not told to have failed
    /// @param failed nodes that were to get it and could not
    /// @param percent of what these are filling is there, in steps of [#STEP]; 100 if none is filling
    public record ReplicaSummary(int local, int filling, int failed, int percent) {
        /// What is written grows with the steps of a fill, not with how often nodes say how far they are.
        public static final int STEP = 10;
    }

    /// Whether `other` has all that this has.
    boolean isWithin(NamespaceAccess other) {
        return other.accounts().keySet().containsAll(accounts.keySet())
                && other.datasets().keySet().containsAll(datasets.keySet());
    }

    /// Tells one content from another.
    public String digest() {
        return Digest.of(ByteBuffer.wrap(toString().getBytes(StandardCharsets.UTF_8)))
                .beginning();
    }

    /// What each namespace may use.
    ///
    /// @param details of datasets, by their names
    /// @param replicas of the datasets that pods of a namespace use or wait for, by namespaces and names
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
