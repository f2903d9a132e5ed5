package dev.siphon.controller.grant;

import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/// Publishes which namespaces may read which datasets.
final class DatasetShares {
    private final GrantsPublication publication;

    DatasetShares(GrantsPublication publication) {
        this.publication = publication;
    }

    /// Implements [NamespaceGrants#share].
    void share(String name, VolumeId.DatasetVolume volume, boolean everybody, Optional<String> namespace) {
        Optional<Shared> published = publication.known().flatMap(all -> all.dataset(name));
        boolean there = published
                .filter(shared -> shared.volume().equals(volume) && shared.everybody() == everybody)
                .filter(shared -> everybody || namespace.map(shared::isFor).orElse(true))
                .isPresent();
        if (!there) {
            Map<String, String> leftOut = publish(all -> {
                NavigableSet<String> namespaces = new TreeSet<>();
                Optional.ofNullable(all.get(name)).ifPresent(shared -> {
                    if (shared.volume().equals(volume)) {
                        namespaces.addAll(shared.namespaces());
                    } else {
                        // the key of the old location must still be removed
                        all.putIfAbsent(
                                NamespaceGrants.formerName(name, shared.volume()),
                                new Shared(shared.volume(), false, new TreeSet<>()));
                    }
                });
                namespace.ifPresent(namespaces::add);
                all.put(name, new Shared(volume, everybody, everybody ? new TreeSet<>() : namespaces));
            });
            if (!publication.isPartial()) {
                GrantsPublication.refuse(leftOut, name);
            }
        }
    }

    /// Implements [NamespaceGrants#shareOnly].
    Map<String, String> shareOnly(Grants before, Map<String, Shared> datasets) {
        if (publication.known().map(Grants::datasets).equals(Optional.of(datasets))) {
            return Map.of();
        }
        Map<String, String> leftOut = publish(all -> {
            Map<String, Shared> meanwhile = new TreeMap<>(all);
            all.clear();
            all.putAll(datasets);
            meanwhile.forEach((name, shared) -> {
                boolean isNew = before.dataset(name)
                        .filter(old -> old.volume().equals(shared.volume()))
                        .isEmpty();
                if (isNew && !datasets.containsKey(name)) {
                    all.put(name, shared);
                }
                all.computeIfPresent(name, (_, now) -> now.with(granted(name, shared, before)));
            });
        });
        return publication.isPartial() ? Map.of() : leftOut;
    }

    /// Returns the namespaces that `now` adds to those of `before`, for the same image.
    private static Shared granted(String name, Shared now, Grants before) {
        NavigableSet<String> namespaces = new TreeSet<>(now.namespaces());
        before.dataset(name)
                .filter(old -> old.volume().equals(now.volume()))
                .ifPresent(old -> namespaces.removeAll(old.namespaces()));
        return new Shared(now.volume(), now.everybody(), namespaces);
    }

    private Map<String, String> publish(Consumer<Map<String, Shared>> change) {
        return publication.publish(before -> {
            Map<String, Shared> all = new TreeMap<>(before.datasets());
            change.accept(all);
            return new Grants(before.groups(), all);
        });
    }
}
