package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.imports.DatasetImport;
import dev.siphon.controller.kubernetes.resource.DatasetImportObject;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The imports that are kept in memory: tenants may write any number of them. What finds no room is read again once
/// there is some.
final class KnownImports implements Informer.Values<KnownImports.KnownImport> {
    /// Imports of one namespace: each takes up to 8 KiB.
    static final int OF_NAMESPACE = 50;

    /// Imports of all namespaces: up to 16 MiB, usually 1 MiB.
    static final int OF_ALL = 2000;

    private static final Logger LOG = LoggerFactory.getLogger(KnownImports.class);
    private static final String METADATA = "metadata";

    private final KubernetesApi api;

    /// How many are kept, by namespace. Guarded by this object's lock, like all fields below.
    private final Map<String, Integer> counts = new HashMap<>();

    private boolean isLeftOut;
    private boolean isRoom;

    /// @param created when, as in the object
    record KnownImport(String created, DatasetImport wanted) {}

    KnownImports(KubernetesApi api) {
        this.api = api;
    }

    @Override
    public synchronized Optional<KnownImport> of(ObjectParts object, Optional<KnownImport> before) {
        before.ifPresent(this::uncount);
        Optional<KnownImport> known = parse(object.kept()).filter(this::hasRoom);
        known.ifPresent(each -> counts.merge(each.wanted().namespace(), 1, Integer::sum));
        return known;
    }

    private Optional<KnownImport> parse(JsonObject object) {
        if (JsonParts.text(object, METADATA, "deletionTimestamp").isPresent()) {
            return Optional.empty();
        }
        String created = JsonParts.text(object, METADATA, "creationTimestamp").orElse("");
        return api.typed(object, DatasetImportObject.class)
                .flatMap(ImportParser::parse)
                .map(wanted -> new KnownImport(created, wanted));
    }

    private boolean hasRoom(KnownImport known) {
        int all = counts.values().stream().mapToInt(Integer::intValue).sum();
        boolean has = all < OF_ALL && counts.getOrDefault(known.wanted().namespace(), 0) < OF_NAMESPACE;
        if (!has && !isLeftOut) {
            LOG.warn(
                    "{} waits unseen: a namespace may have {} of them, and all together {}; people have to delete some",
                    known.wanted(),
                    OF_NAMESPACE,
                    OF_ALL);
        }
        isLeftOut |= !has;
        return has;
    }

    @Override
    public synchronized void gone(KnownImport before) {
        uncount(before);
        isRoom |= isLeftOut;
    }

    private void uncount(KnownImport before) {
        counts.computeIfPresent(before.wanted().namespace(), (_, count) -> count > 1 ? count - 1 : null);
    }

    @Override
    public synchronized boolean isToBeListed() {
        boolean is = isRoom;
        isLeftOut &= !is;
        isRoom = false;
        return is;
    }
}
