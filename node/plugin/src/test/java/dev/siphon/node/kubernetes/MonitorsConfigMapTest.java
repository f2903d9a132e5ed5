package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Which monitors a node connects to, depending on what the controller has published and when.
final class MonitorsConfigMapTest {
    private static final Monitors OF_VOLUME = Monitors.parse("10.0.0.1");
    private static final String MOVED = "[v2:10.0.0.2:3300,v1:10.0.0.2:6789]";

    private final AtomicLong now = new AtomicLong();

    @TempDir
    private Path folder;

    private MonitorsConfigMap map(FakeApi api) {
        return new MonitorsConfigMap(new ApiAccess.Kubeconfig(api.kubeconfig(folder)), FakeApi.NAMESPACE, now::get);
    }

    private static void publish(FakeApi api, String monitors) {
        api.answer(Optional.of(new FakeApi.Answer(200, "{\"data\": {\"ceph\": \"" + monitors + "\"}}")));
    }

    private void later(Duration time) {
        now.addAndGet(time.toNanos());
    }

    @Test
    void whatIsPublishedGoesBeforeWhatTheVolumeSays() {
        try (FakeApi api = FakeApi.start();
                MonitorsConfigMap map = map(api)) {
            publish(api, MOVED);
            assertEquals(Monitors.parse(MOVED), map.of("ceph", OF_VOLUME));
            assertEquals(OF_VOLUME, map.of("other", OF_VOLUME));
        }
    }

    @Test
    void aMoveIsSeenAfterAMinuteAndOneRequestServesUntilThen() {
        try (FakeApi api = FakeApi.start();
                MonitorsConfigMap map = map(api)) {
            publish(api, "10.0.0.1");
            assertEquals(OF_VOLUME, map.of("ceph", OF_VOLUME));
            publish(api, MOVED);
            later(Duration.ofSeconds(59));
            assertEquals(OF_VOLUME, map.of("ceph", OF_VOLUME));
            assertEquals(1, api.authorizations().size());
            later(Duration.ofSeconds(1));
            assertEquals(Monitors.parse(MOVED), map.of("ceph", OF_VOLUME));
        }
    }

    @Test
    void whileNobodyAnswersTheLastThatAreKnownServe() {
        try (FakeApi api = FakeApi.start();
                MonitorsConfigMap map = map(api)) {
            publish(api, MOVED);
            assertEquals(Monitors.parse(MOVED), map.of("ceph", OF_VOLUME));
            api.answer(Optional.of(new FakeApi.Answer(503, "")));
            later(Duration.ofSeconds(60));
            assertEquals(Monitors.parse(MOVED), map.of("ceph", OF_VOLUME));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {403, 404, 500})
    void withoutAnyAnswerThoseOfTheVolumeServe(int status) {
        try (FakeApi api = FakeApi.start();
                MonitorsConfigMap map = map(api)) {
            api.answer(Optional.of(new FakeApi.Answer(status, "")));
            assertEquals(OF_VOLUME, map.of("ceph", OF_VOLUME));
        }
    }

    @Test
    void anApiThatHangsCostsOneWaitAMinute() {
        try (FakeApi api = FakeApi.start();
                MonitorsConfigMap map = map(api)) {
            api.answer(Optional.of(new FakeApi.Answer(0, "")));
            assertEquals(OF_VOLUME, map.of("ceph", OF_VOLUME));
            long begun = System.nanoTime();
            assertEquals(OF_VOLUME, map.of("ceph", OF_VOLUME));
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            assertTrue(took.compareTo(ApiConnection.LIMIT) < 0, () -> "took " + took);
        }
    }

    @Test
    void whatIsNoListOfMonitorsIsLeftOut() {
        assertEquals(
                Map.of("b", OF_VOLUME),
                MonitorsConfigMap.entries("{\"data\": {\"a\": \"x y\", \"b\": \"10.0.0.1\", \"c\": 1}}"));
        assertEquals(Map.of(), MonitorsConfigMap.entries("{}"));
        assertThrows(DriverException.BackendFault.class, () -> MonitorsConfigMap.entries("[]"));
    }
}
