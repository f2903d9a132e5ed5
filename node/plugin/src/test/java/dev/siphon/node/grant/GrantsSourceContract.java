package dev.siphon.node.grant;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The contract of every source of grants, wherever the controller publishes them.
public abstract class GrantsSourceContract {
    private static final String GROUP = "a00000000000000000001";
    private static final VolumeId VOLUME = VolumeId.parse("s1:lab:cephfs:" + GROUP + ":v1");

    /// Returns the source under test.
    protected abstract GrantsSource source();

    /// Publishes `text` as the controller does, and replaces what was published.
    protected abstract void publish(String text);

    /// Removes everything published.
    protected abstract void remove();

    /// Returns the text that names to an administrator where the grants should be.
    protected abstract String place();

    /// Returns grants of the account u1 for these namespaces.
    protected static Grants grants(String... namespaces) {
        return new Grants(
                Map.of(
                        new Grants.GroupKey("lab", "cephfs", GROUP),
                        new Grants.Grant("u1", new TreeSet<>(List.of(namespaces)))),
                Map.of());
    }

    @Test
    public void whatWasPublishedBeforeIsKnown() {
        publish(grants("one").toJson());
        assertEquals(grants("one"), known());
        publish(grants("one", "two").toJson());
        assertEquals(grants("one", "two"), known());
        publish(Grants.NONE.toJson());
        assertEquals(Grants.NONE, known());
    }

    @Test
    public void whatIsNotPublishedLetsNobodyIn() {
        remove();
        assertUnknown();
        publish(grants("one").toJson());
        assertEquals(grants("one"), known());
        remove();
        assertUnknown();
    }

    @ParameterizedTest
    @ValueSource(strings = {"{", "null", "[]", "{\"groups\": 1}", ""})
    public void whatCannotBeReadLetsNobodyIn(String text) {
        publish(grants("one").toJson());
        assertEquals(grants("one"), known());
        publish(text);
        assertUnknown();
        publish(grants("two").toJson());
        assertEquals(grants("two"), known());
    }

    @Test
    public void aGrantOfAMomentAgoLetsAPodIn() {
        publish(grants("one").toJson());
        PublishCheck check = new PublishCheck(Optional.of(source()), NamespacePlaces.NONE, Optional.of("siphon"));
        assertDoesNotThrow(() -> check.check(VOLUME, Optional.empty(), Optional.of("one"), Optional.empty()));
        assertThrows(
                DriverException.AccessDenied.class,
                () -> check.check(VOLUME, Optional.empty(), Optional.of("two"), Optional.empty()));
        publish(grants("one", "two").toJson());
        assertDoesNotThrow(() -> check.check(VOLUME, Optional.empty(), Optional.of("two"), Optional.empty()));
    }

    @Test
    public void manyAtOnceKnowTheSame() throws InterruptedException, ExecutionException {
        publish(grants("one").toJson());
        try (ExecutorService pods = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Grants>> all = IntStream.range(0, 50)
                    .mapToObj(_ -> pods.submit(this::known))
                    .toList();
            for (Future<Grants> each : all) {
                assertEquals(grants("one"), each.get());
            }
        }
    }

    private Grants known() {
        GrantsSource.KnownGrants known = source().get(Duration.ZERO);
        assertEquals(Optional.empty(), known.outdated());
        return known.grants();
    }

    private void assertUnknown() {
        DriverException unknown =
                assertThrows(DriverException.BackendUnavailable.class, () -> source().get(Duration.ZERO));
        assertTrue(unknown.getMessage().contains("is not known"), unknown::getMessage);
        assertTrue(unknown.getMessage().contains(place()), unknown::getMessage);
    }
}
