package dev.siphon.controller.kubernetes;

import com.google.gson.JsonObject;
import dev.siphon.controller.imports.DatasetImport;
import dev.siphon.controller.imports.ImportCluster.LeftOut;
import dev.siphon.controller.imports.ImportStatus;
import dev.siphon.controller.kubernetes.resource.DatasetImportObject;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The imports that are kept in memory: tenants may write any number of them. What finds no room is told so in its
/// status, and read again once there is some. A failed import of which nothing is left takes no room, and a ready one
/// none of those that have something to do.
final class KnownImports implements Informer.Values<KnownImports.KnownImport> {
    /// Each import takes up to 8 KiB, usually 1 KiB.
    static final Room OPEN = new Room(50, 2000);

    /// Ready ones, of which only the users are watched.
    static final Room READY = new Room(250, 5000);

    /// Imports that wait to be told that they were left out. For more, the collection is listed again.
    static final int UNTOLD = 200;

    private static final String METADATA = "metadata";

    private final KubernetesApi api;

    /// How many are kept, by room and namespace. Guarded by this object's lock, like all fields below.
    private final Map<Room, Map<String, Integer>> counts = new HashMap<>();

    private final Map<String, LeftOut> untold = new LinkedHashMap<>();
    private boolean isLeftOut;
    private boolean isRoom;
    private boolean isMoreUntold;

    /// How many imports of one namespace are kept, and of all.
    record Room(int ofNamespace, int ofAll) {}

    /// @param created when, as in the object
    record KnownImport(String created, DatasetImport wanted) {
        private Room room() {
            return wanted.isSettled() ? READY : OPEN;
        }
    }

    KnownImports(KubernetesApi api) {
        this.api = api;
    }

    @Override
    public synchronized Optional<KnownImport> of(ObjectParts object, Optional<KnownImport> before) {
        before.ifPresent(this::uncount);
        Optional<KnownImport> read = parse(object.kept());
        read.ifPresent(each -> untold.remove(each.wanted().uid()));
        Optional<KnownImport> known =
                read.filter(each -> !each.wanted().isFailedForGood()).filter(this::hasRoom);
        known.ifPresent(each -> counts(each.room()).merge(each.wanted().namespace(), 1, Integer::sum));
        isRoom |= isLeftOut
                && before.isPresent()
                && !before.map(KnownImport::room).equals(known.map(KnownImport::room));
        return known;
    }

    private Map<String, Integer> counts(Room room) {
        return counts.computeIfAbsent(room, _ -> new HashMap<>());
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
        Room room = known.room();
        int all = counts(room).values().stream().mapToInt(Integer::intValue).sum();
        boolean ofNamespace = counts(room).getOrDefault(known.wanted().namespace(), 0) < room.ofNamespace();
        boolean has = ofNamespace && all < room.ofAll();
        isLeftOut |= !has;
        if (!has && room.equals(OPEN)) {
            leaveOut(
                    known.wanted(),
                    ofNamespace
                            ? "waits: the cluster has " + room.ofAll()
                                    + " imports that have not ended, and more are not"
                                    + " handled at once; it begins once some have ended"
                            : "waits: this namespace has " + room.ofNamespace()
                                    + " imports that have not ended, and more"
                                    + " are not handled at once; it begins once some have ended, or are deleted");
        }
        return has;
    }

    private void leaveOut(DatasetImport wanted, String why) {
        if (wanted.status().reason().equals(ImportStatus.TOO_MANY)) {
            return;
        }
        if (untold.size() < UNTOLD) {
            untold.put(wanted.uid(), new LeftOut(wanted, why));
        } else {
            isMoreUntold = true;
        }
    }

    /// Returns those whose status does not say yet that they were left out.
    synchronized List<LeftOut> untold() {
        return List.copyOf(untold.values());
    }

    /// Notes that the status of an import was written.
    synchronized void told(String uid) {
        untold.remove(uid);
    }

    @Override
    public synchronized void gone(KnownImport before) {
        uncount(before);
        isRoom |= isLeftOut;
    }

    private void uncount(KnownImport before) {
        counts(before.room()).computeIfPresent(before.wanted().namespace(), (_, count) -> count > 1 ? count - 1 : null);
    }

    @Override
    public synchronized boolean isToBeListed() {
        boolean is = isRoom || (isMoreUntold && untold.isEmpty());
        if (is) {
            isLeftOut = false;
            isRoom = false;
            isMoreUntold = false;
        }
        return is;
    }
}
