package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

final class GrantCapacityWarningsTest {
    private final List<String> events = new ArrayList<>();
    private final Set<String> ofGrants = new HashSet<>();
    private final Map<NamespaceAccess.Key, String> ofNamespaces = new TreeMap<>();
    private boolean silent;

    private final GrantCapacityWarnings warnings =
            new GrantCapacityWarnings(() -> ofGrants, new Store(), () -> ofNamespaces, new Objects());

    private void add(String event) {
        if (silent) {
            throw new DriverException.BackendUnavailable("no answer");
        }
        events.add(event);
    }

    private final class Store implements GrantsStore {
        @Override
        public Grants last() {
            return Grants.NONE;
        }

        @Override
        public void publish(Grants grants) {
            throw new AssertionError("nothing is published");
        }

        @Override
        public long mostBytes() {
            return 1;
        }

        @Override
        public void warn(String what) {
            add(what);
        }

        @Override
        public String where() {
            return "here";
        }
    }

    private final class Objects implements NamespaceAccessStore {
        @Override
        public Optional<Map<NamespaceAccess.Key, String>> digests() {
            return Optional.empty();
        }

        @Override
        public void put(NamespaceAccess access) {
            throw new AssertionError("nothing is put");
        }

        @Override
        public void remove(NamespaceAccess.Key key) {
            throw new AssertionError("nothing is removed");
        }

        @Override
        public void warn(NamespaceAccess.Key key, String what) {
            add(key + " " + what);
        }

        @Override
        public int most() {
            return 1;
        }
    }

    private static NamespaceAccess.Key key(String namespace) {
        return new NamespaceAccess.Key(namespace, NamespaceAccess.OBJECT);
    }

    @Test
    void eachIsSaidOnceWhileItIsSo() {
        ofGrants.add("full");
        ofNamespaces.put(key("team"), "nearly full");
        warnings.reconcile();
        warnings.reconcile();
        assertEquals(List.of("full", "team/siphon nearly full"), events);
        ofGrants.clear();
        warnings.reconcile();
        ofGrants.add("full");
        warnings.reconcile();
        assertEquals(List.of("full", "team/siphon nearly full", "full"), events);
    }

    @Test
    void whatCannotBeSaidNowIsSaidLaterAndNothingTwice() {
        ofGrants.add("full");
        warnings.reconcile();
        ofNamespaces.put(key("team"), "nearly full");
        silent = true;
        warnings.reconcile();
        silent = false;
        warnings.reconcile();
        assertEquals(List.of("full", "team/siphon nearly full"), events);
    }

    @Test
    void manyTakeTurns() {
        for (int number = 0; number < 120; number++) {
            ofNamespaces.put(key("n" + number), "nearly full");
        }
        warnings.reconcile();
        assertEquals(50, events.size());
        warnings.reconcile();
        warnings.reconcile();
        warnings.reconcile();
        assertEquals(120, new HashSet<>(events).size());
        assertEquals(120, events.size());
    }
}
