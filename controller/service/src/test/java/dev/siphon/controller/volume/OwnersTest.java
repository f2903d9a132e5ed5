package dev.siphon.controller.volume;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.InMemoryNamespaces;
import dev.siphon.csi.DriverException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class OwnersTest {
    private static final String BY_ANNOTATION = "namespace-annotation:siphon.dev/account";

    private final InMemoryNamespaces kubernetes = new InMemoryNamespaces();
    private final Owners owners = new Owners(World.directory(), Optional.of(kubernetes), Optional.empty());
    private final Owners outside = new Owners(World.directory(), Optional.empty(), Optional.of("u2"));

    private static VolumeClass of(String owner, String namespace, String claim, String volume) {
        Map<String, String> parameters = new HashMap<>(Map.of("owner", owner));
        parameters.put("csi.storage.k8s.io/pvc/namespace", namespace);
        parameters.put("csi.storage.k8s.io/pvc/name", claim);
        parameters.put("csi.storage.k8s.io/pv/name", volume);
        return ClassParameters.parse(parameters);
    }

    private static VolumeClass of(String owner, String namespace) {
        return of(owner, namespace, "data", "pvc-1");
    }

    private static String refusal(Class<? extends DriverException> kind, Owners owners, VolumeClass parameters) {
        return assertThrows(kind, () -> owners.of(parameters)).getMessage();
    }

    @ParameterizedTest(name = "{0} in namespace {1} is {2}")
    @CsvSource({
        "u1, team, u1",
        "u1, '', u1",
        "namespace, u1, u1",
        "namespace-prefix:user-, user-u1, u1",
        "namespace-prefix:u, uu2, u2"
    })
    void withoutKubernetesTheClassAndTheNamespaceSayWhoOwns(String owner, String namespace, String account) {
        assertEquals(account, outside.of(of(owner, namespace)).name());
    }

    @ParameterizedTest(name = "{0} in namespace \"{1}\" is refused: {2}")
    @CsvSource({
        "namespace, '', --extra-create-metadata",
        "namespace-prefix:user-, '', --extra-create-metadata",
        "namespace-annotation:a, '', --extra-create-metadata",
        "namespace-annotation:a, team, --kubernetes-namespace",
        "namespace-prefix:user-, team, does not begin with",
        "namespace-prefix:user-, user-, does not begin with",
        "namespace-prefix:user-, xuser-u1, does not begin with",
        "namespace, team, the directory has no such account",
        "u3, team, the directory has no such account"
    })
    void withoutKubernetesWhatNamesNoAccountIsRefused(String owner, String namespace, String message) {
        String refusal = refusal(DriverException.InvalidRequest.class, outside, of(owner, namespace));
        assertTrue(refusal.contains(message), refusal);
    }

    @Test
    void aClassWithoutAnOwnerHasTheDefault() {
        assertEquals("u2", outside.of(ClassParameters.parse(Map.of())).name());
        String refusal = refusal(DriverException.InvalidRequest.class, owners, ClassParameters.parse(Map.of()));
        assertTrue(refusal.contains("parameter owner is needed"), refusal);
    }

    @Test
    void anAnnotationOfTheNamespaceNamesTheOwner() {
        kubernetes.annotate("team", Map.of("siphon.dev/account", " u1 "));
        kubernetes.make("team", "data", Map.of());
        assertEquals("u1", owners.of(of(BY_ANNOTATION, "team")).name());
        kubernetes.annotate("team", Map.of("siphon.dev/account", "u2"));
        assertEquals("u2", owners.of(of(BY_ANNOTATION, "team")).name(), "what is written now counts");
    }

    @ParameterizedTest(name = "annotation \"{0}\" is refused: {1}")
    @CsvSource({
        "'', is not a valid name",
        "u3, the directory has no such account",
        "u/1, is not a valid name",
        "'u1,u2', no such account"
    })
    void anAnnotationThatNamesNoAccountIsRefused(String value, String message) {
        kubernetes.annotate("team", Map.of("siphon.dev/account", value));
        kubernetes.make("team", "data", Map.of());
        String refusal = refusal(DriverException.InvalidRequest.class, owners, of(BY_ANNOTATION, "team"));
        assertTrue(refusal.contains(message), refusal);
    }

    @Test
    void aNamespaceWithoutTheAnnotationNamesNobody() {
        kubernetes.annotate("team", Map.of());
        kubernetes.make("team", "data", Map.of());
        String refusal = refusal(DriverException.InvalidRequest.class, owners, of(BY_ANNOTATION, "team"));
        assertTrue(refusal.contains("siphon.dev/account"), refusal);
        assertTrue(refusal.contains("team"), refusal);
    }

    @ParameterizedTest
    @ValueSource(strings = {"namespace", "namespace-prefix:te", "namespace-annotation:siphon.dev/account"})
    void aClaimMayNameWhomItsNamespaceLists(String owner) {
        kubernetes.annotate("team", Map.of("siphon.dev/account", "u1", Owners.OWNERS, "u3, u2 ,group:lab"));
        kubernetes.make("team", "data", Map.of(Owners.OWNER, "u2"));
        assertEquals("u2", owners.of(of(owner, "team")).name());
    }

    @ParameterizedTest(name = "{0} where \"{1}\" are listed")
    @CsvSource({"u2, ''", "u2, u1", "u2, 'u22,xu2'", "u2, 'u1;u2'", "u2, group:u2", "U2, u2", "'u1,u2', 'u1,u2'"})
    void aClaimThatNamesSomebodyElseIsRefused(String wanted, String listed) {
        kubernetes.annotate("u1", Map.of(Owners.OWNERS, listed));
        kubernetes.make("u1", "data", Map.of(Owners.OWNER, wanted));
        String refusal = refusal(DriverException.AccessDenied.class, owners, of("namespace", "u1"));
        assertTrue(refusal.contains("siphon.dev/owners of namespace u1"), refusal);
    }

    @Test
    void aClaimIsNotListedByAnotherNamespaceOrByNone() {
        kubernetes.annotate("u1", Map.of());
        kubernetes.annotate("u2", Map.of(Owners.OWNERS, "u2"));
        kubernetes.make("u1", "data", Map.of(Owners.OWNER, "u2"));
        refusal(DriverException.AccessDenied.class, owners, of("namespace", "u1"));
    }

    @Test
    void ofAClassWithAFixedOwnerTheClaimDecidesNothingAndIsNotAskedFor() {
        kubernetes.annotate("team", Map.of(Owners.OWNERS, "u2"));
        kubernetes.make("team", "data", Map.of(Owners.OWNER, "u2"));
        assertEquals("u1", owners.of(of("u1", "team")).name());
        assertEquals(List.of(), kubernetes.asked());
    }

    @Test
    void theNamespaceIsAskedForOnlyIfItsAnnotationsCount() {
        kubernetes.annotate("u1", Map.of(Owners.OWNERS, "u2"));
        kubernetes.make("u1", "data", Map.of());
        assertEquals("u1", owners.of(of("namespace", "u1")).name());
        assertEquals(List.of("claim u1/data"), kubernetes.asked());
        kubernetes.make("u1", "data", Map.of(Owners.OWNER, "u2"));
        assertEquals("u2", owners.of(of("namespace", "u1")).name());
        assertEquals(List.of("claim u1/data", "claim u1/data", "namespace u1"), kubernetes.asked());
    }

    @Test
    void nothingIsMadeForAClaimThatIsGone() {
        kubernetes.annotate("u1", Map.of());
        String refusal = refusal(DriverException.NotFound.class, owners, of("namespace", "u1"));
        assertTrue(refusal.contains("u1/data no longer exists"), refusal);
    }

    @Test
    void nothingIsMadeForAnEarlierClaimOfTheSameName() {
        kubernetes.annotate("u1", Map.of());
        String uid = kubernetes.make("u1", "data", Map.of());
        assertEquals(
                "u1", owners.of(of("namespace", "u1", "data", "pvc-" + uid)).name());
        assertEquals(
                "u1", owners.of(of("namespace", "u1", "data", "made-by-hand")).name());
        kubernetes.make("u1", "data", Map.of());
        String refusal = refusal(DriverException.NotFound.class, owners, of("namespace", "u1", "data", "pvc-" + uid));
        assertTrue(refusal.contains("was deleted and created again"), refusal);
    }

    @Test
    void aCallerThatNamesNoClaimGetsWhatTheNamespaceSays() {
        kubernetes.annotate("u1", Map.of());
        assertEquals("u1", owners.of(of("namespace", "u1", "", "")).name());
        assertEquals(List.of(), kubernetes.asked());
    }

    @Test
    void aVolumeBelongsToTheAccountOfItsNamespace() {
        World world = new World();
        Map<String, String> parameters =
                Map.of("owner", "namespace-prefix:user-", "csi.storage.k8s.io/pvc/namespace", "user-u2");
        assertEquals(
                world.create(World.request("two", Map.of("owner", "u2"))).group(),
                world.create(World.request("one", parameters)).group());
    }

    @Test
    void howMuchAClassMayGiveIsToldWithoutAPvc() {
        World world = new World();
        long pool = world.domain.capacities().available(ClassParameters.parse(Map.of()));
        for (String owner : List.of("namespace", "namespace-prefix:user-", BY_ANNOTATION)) {
            assertEquals(pool, world.domain.capacities().available(ClassParameters.parse(Map.of("owner", owner))));
        }
    }
}
