package dev.siphon.node.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// How a node handles a failing API, and how it authenticates.
final class GrantsConfigMapTest {
    private static final String FORBIDDEN =
            "{\"kind\":\"Status\",\"message\":\"configmaps \\\"siphon-grants\\\" is forbidden: User \\\"u\\\" cannot get\"}";

    @TempDir
    private Path folder;

    @ParameterizedTest(name = "{0}")
    @CsvSource({"400", "401", "403", "429", "500", "503"})
    void whatMayPassIsNoAnswer(int status) {
        try (FakeApi api = FakeApi.start()) {
            api.publish(Grants.NONE.toJson());
            api.answer(Optional.of(new FakeApi.Answer(status, FORBIDDEN)));
            DriverException failure = assertThrows(DriverException.BackendUnavailable.class, () -> read(api));
            assertTrue(failure.getMessage().contains("HTTP " + status), failure::getMessage);
            assertTrue(failure.getMessage().contains("is forbidden"), failure::getMessage);
            assertNoSecret(failure);
        }
    }

    @Test
    void whatStandsBeforeTheApiNeedNotSpeakJson() {
        try (FakeApi api = FakeApi.start()) {
            api.answer(Optional.of(new FakeApi.Answer(502, "<html>bad gateway</html>")));
            assertTrue(assertThrows(DriverException.BackendUnavailable.class, () -> read(api))
                    .getMessage()
                    .endsWith("HTTP 502"));
            api.answer(Optional.of(new FakeApi.Answer(500, "")));
            assertThrows(DriverException.BackendUnavailable.class, () -> read(api));
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            []
            {"data": []}
            {"data": {"grants.json": {"": null}}}
            {"data": {"grants.json": []}}
            """)
    void anObjectOfAnotherFormIsNoConfigMap(String object) {
        try (FakeApi api = FakeApi.start()) {
            api.answer(Optional.of(new FakeApi.Answer(200, object)));
            assertThrows(DriverException.BackendFault.class, () -> read(api));
        }
    }

    @Test
    void anApiThatHangsIsGivenUpWithinItsLimit() {
        try (FakeApi api = FakeApi.start()) {
            api.answer(Optional.of(new FakeApi.Answer(0, "")));
            long begun = System.nanoTime();
            DriverException failure = assertThrows(DriverException.BackendUnavailable.class, () -> read(api));
            Duration took = Duration.ofNanos(System.nanoTime() - begun);
            assertTrue(failure.getMessage().contains(api.uri().toString()), failure::getMessage);
            assertTrue(took.compareTo(ApiConnection.LIMIT.multipliedBy(4)) < 0, () -> "took " + took);
        }
    }

    @Test
    void anApiThatIsNotThereIsNoAnswer() {
        ApiAccess access;
        try (FakeApi api = FakeApi.start()) {
            access = new ApiAccess.Kubeconfig(api.kubeconfig(folder));
        }
        DriverException failure = assertThrows(DriverException.BackendUnavailable.class, () -> read(access));
        assertTrue(failure.getMessage().contains("does not answer"), failure::getMessage);
        assertNoSecret(failure);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {"[]", "nonsense", "{\"data\": 1}", "{\"data\": {\"grants.json\": []}}"})
    void whatIsNoConfigMapIsBroken(String body) {
        try (FakeApi api = FakeApi.start()) {
            api.answer(Optional.of(new FakeApi.Answer(200, body)));
            assertThrows(DriverException.BackendFault.class, () -> read(api));
        }
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {"{}", "{\"data\": null}", "{\"data\": {}}", "{\"data\": {\"other\": \"\"}}"})
    void aConfigMapWithoutGrantsHasNone(String body) {
        try (FakeApi api = FakeApi.start()) {
            api.answer(Optional.of(new FakeApi.Answer(200, body)));
            assertThrows(DriverException.NotFound.class, () -> read(api));
        }
    }

    @Test
    void aKubeconfigThatCannotBeReadIsSaidAndReadAgain() throws IOException {
        Path file = folder.resolve("kubeconfig");
        try (FakeApi api = FakeApi.start();
                GrantsConfigMap map = new GrantsConfigMap(new ApiAccess.Kubeconfig(file), FakeApi.NAMESPACE)) {
            api.publish(Grants.NONE.toJson());
            assertTrue(assertThrows(DriverException.BackendUnavailable.class, map::read)
                    .getMessage()
                    .contains(file.toString()));
            for (String broken : List.of("token: s3cret\nclusters: [", "clusters: s3cret", "[s3cret]", "")) {
                Files.writeString(file, broken);
                assertNoSecret(assertThrows(DriverException.BackendUnavailable.class, map::read));
            }
            assertEquals(file, api.kubeconfig(folder));
            assertEquals(Grants.NONE, map.read());
            assertEquals(List.of("Bearer s3cret"), api.authorizations());
        }
    }

    @Test
    void aPodTrustsItsClusterAndShowsTheTokenOfNow() throws IOException, GeneralSecurityException {
        try (FakeApi api = FakeApi.startTls(ServerKeys.make(folder));
                GrantsConfigMap map =
                        new GrantsConfigMap(new ApiAccess.PodAccess(api.uri(), folder), FakeApi.NAMESPACE)) {
            api.publish(Grants.NONE.toJson());
            Files.writeString(folder.resolve("token"), "first\n");
            assertEquals(Grants.NONE, map.read());
            Files.writeString(folder.resolve("token"), "second\n");
            assertEquals(Grants.NONE, map.read());
            assertEquals(List.of("Bearer first", "Bearer second"), api.authorizations());
            Files.delete(folder.resolve("token"));
            assertThrows(DriverException.BackendUnavailable.class, map::read);
        }
    }

    @Test
    void aPodTrustsNobodyElse() throws IOException, GeneralSecurityException {
        SSLContext keys = ServerKeys.make(folder);
        Files.delete(folder.resolve("keys.p12"));
        var _ = ServerKeys.make(folder);
        Files.writeString(folder.resolve("token"), "t0ken");
        try (FakeApi api = FakeApi.startTls(keys)) {
            DriverException failure = assertThrows(
                    DriverException.BackendUnavailable.class, () -> read(new ApiAccess.PodAccess(api.uri(), folder)));
            assertEquals(List.of(), api.authorizations());
            assertFalse(failure.getMessage().contains("t0ken"), failure::getMessage);
        }
    }

    @Test
    void aPodIsToldWhereItsApiIs() {
        assertEquals(
                URI.create("https://10.96.0.1:443"),
                ApiAccess.ofPod(Map.of("KUBERNETES_SERVICE_HOST", "10.96.0.1", "KUBERNETES_SERVICE_PORT", "443"))
                        .server());
        assertEquals(
                URI.create("https://[fd00::1]:443"),
                ApiAccess.ofPod(Map.of("KUBERNETES_SERVICE_HOST", "fd00::1", "KUBERNETES_SERVICE_PORT", "443"))
                        .server());
        assertThrows(IllegalArgumentException.class, () -> ApiAccess.ofPod(Map.of()));
    }

    private Grants read(FakeApi api) {
        return read(new ApiAccess.Kubeconfig(api.kubeconfig(folder)));
    }

    private static Grants read(ApiAccess access) {
        try (GrantsConfigMap map = new GrantsConfigMap(access, FakeApi.NAMESPACE)) {
            return map.read();
        }
    }

    private static void assertNoSecret(DriverException failure) {
        assertFalse(failure.getMessage().contains("s3cret"), failure::getMessage);
    }
}
