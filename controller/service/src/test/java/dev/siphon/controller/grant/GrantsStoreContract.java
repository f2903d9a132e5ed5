package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/// The contract of every [GrantsStore].
public abstract class GrantsStoreContract {
    /// Opens the store as another process does.
    protected abstract GrantsStore open();

    /// Returns the text that a node reads.
    protected abstract String read();

    /// Replaces the published grants by invalid text.
    protected abstract void spoil(String text);

    protected static Grants grants(String account, String... namespaces) {
        return new Grants(
                Map.of(
                        new GroupKey("lab", "cephfs", "a00000000000000000001"),
                        new Grant(account, new TreeSet<>(List.of(namespaces)))),
                Map.of());
    }

    @Test
    void whatIsPublishedIsReadByNodesAndByTheNextController() {
        GrantsStore store = open();
        assertEquals(Grants.NONE, store.last());
        store.publish(grants("u1", "user-u1"));
        assertEquals(grants("u1", "user-u1"), Grants.parse(read()));
        store.publish(grants("u1", "user-u1", "shared"));
        assertEquals(grants("u1", "user-u1", "shared"), Grants.parse(read()));
        assertEquals(grants("u1", "user-u1", "shared"), open().last());
        store.publish(Grants.NONE);
        assertEquals(Grants.NONE, Grants.parse(read()));
    }

    @Test
    void whatIsBrokenIsNoneAndIsReplaced() {
        open().publish(grants("u1", "user-u1"));
        spoil("{");
        assertEquals(Grants.NONE, open().last());
        open().publish(grants("u2", "user-u2"));
        assertEquals(grants("u2", "user-u2"), open().last());
    }
}
