package dev.siphon.node.grant;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Packer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class PublishCheckTest {
    private static final String U1 = "a00000000000000000001";
    private static final String U2 = "a00000000000000000002";
    private static final String NOBODYS = "a00000000000000000003";
    private static final Grants GRANTS = new Grants(
            Map.of(
                    new Grants.GroupKey("lab", "cephfs", U1), grant("u1", "user-u1", "user-u1-more"),
                    new Grants.GroupKey("lab", "cephfs", U2), grant("u2", "user-u2")),
            Map.of(
                    "u1/all", new Grants.Shared(dataset("/datasets/all"), true, new TreeSet<>()),
                    "u1/mine",
                            new Grants.Shared(
                                    dataset("/volumes/" + U1 + "/mine"),
                                    false,
                                    new TreeSet<>(List.of("user-u1", "vision"))),
                    "nobodys", new Grants.Shared(dataset("/datasets/nobodys"), false, new TreeSet<>()),
                    "aside", new Grants.Shared(dataset("/sets/aside"), true, new TreeSet<>())));

    private static final String DATASET = "dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:";
    private static final String CLAIM = "0123456789av:";

    private static final VolumeId VOLUME = VolumeId.parse("s1:lab:cephfs:" + U1 + ":v1");

    private static VolumeId.DatasetVolume dataset(String path) {
        return (VolumeId.DatasetVolume)
                VolumeId.parse("dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:" + path);
    }

    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({
        "/datasets/all, anybody",
        CLAIM + "/datasets/all, anybody",
        CLAIM + "/volumes/" + U1 + "/mine, user-u1",
        "/volumes/" + U1 + "/mine, vision",
        "/datasets/of-whoever-wrote-the-pv, anybody",
    })
    void readersOfADatasetMayPublishIt(String rest, String namespace) {
        assertDoesNotThrow(() -> check(DATASET + rest, Map.of(), Optional.of(namespace)));
    }

    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({
        "/volumes/" + U1 + "/mine, user-u2",
        CLAIM + "/volumes/" + U1 + "/mine, user-u1-more",
        "/datasets/nobodys, user-u1",
        CLAIM + "/datasets/gone, user-u1",
        "/volumes/" + U1 + "/other, vision",
        "/datasets, anybody",
        "/datasets/all/below, anybody",
        "/sets, anybody",
        "/datasets/i0000000000000av, anybody",
        "/datasets/i0000000000000av/below, anybody",
    })
    void othersMayNot(String rest, String namespace) {
        assertThrows(DriverException.AccessDenied.class, () -> check(DATASET + rest, Map.of(), Optional.of(namespace)));
    }

    @Test
    void whatIsTakenBackOfADatasetIsKnownAndOfNothingElse() {
        PublishCheck check = check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty()));
        VolumeId mine = VolumeId.parse(DATASET + CLAIM + "/volumes/" + U1 + "/mine");
        assertEquals(Optional.empty(), check.withdrawn(mine, "vision"));
        assertTrue(check.withdrawn(mine, "user-u2").orElse("").contains("is not a reader"));
        assertEquals(Optional.empty(), check.withdrawn(VOLUME, "user-u2"));
        PublishCheck unsure = check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.of("the API is down")));
        assertEquals(Optional.empty(), unsure.withdrawn(mine, "user-u2"));
        PublishCheck unknown = check(_ -> {
            throw new DriverException.BackendUnavailable("the API is down");
        });
        assertEquals(Optional.empty(), unknown.withdrawn(mine, "user-u2"));
        assertEquals(
                Optional.empty(),
                new PublishCheck(Optional.empty(), NamespacePlaces.NONE, Optional.empty()).withdrawn(mine, "user-u2"));
    }

    private static Grants.Grant grant(String account, String... namespaces) {
        return new Grants.Grant(account, new TreeSet<>(List.of(namespaces)));
    }

    private static void check(String volume, Map<String, String> context, Optional<String> namespace) {
        VolumeId id = VolumeId.parse(volume);
        Map<String, String> all = new HashMap<>(context);
        all.put("monitors", "192.0.2.1:6789");
        check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty()))
                .check(id, Optional.of(VolumeContext.fromMap(id, all)), namespace, Optional.empty());
    }

    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({
        "s1:lab:cephfs:" + U1 + ":v1, user-u1",
        "s1:lab:cephfs:" + U1 + ":v1, user-u1-more",
        "static:lab:cephfs:/volumes/" + U1 + "/v1/uuid, user-u1",
        "static:lab:cephfs:/volumes/" + U2 + ", user-u2",
        "static:lab:other:/sets/aside, anybody",
        "static:lab:cephfs:/datasets-of-old, anybody",
        "static:lab:cephfs:/volumes/of-another-driver/v1, anybody",
        "static:lab:cephfs:/volumes/_nogroup/v1, anybody",
        "static:lab:cephfs:/shared/imagenet, anybody",
        "static:lab:cephfs:/shared/volumes/" + U1 + ", anybody",
    })
    void grantedOrNobodys(String volume, String namespace) {
        assertDoesNotThrow(() -> check(volume, Map.of(), Optional.of(namespace)));
        assertDoesNotThrow(() -> check(volume, Map.of(), Optional.empty()));
    }

    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({
        "s1:lab:cephfs:" + U1 + ":v1, user-u2",
        "s1:lab:cephfs:" + U1 + ":v1, user-u",
        "s1:lab:cephfs:" + U1 + ":v1, ''",
        "s1:lab:other:" + U1 + ":v1, user-u1",
        "s1:far:cephfs:" + U1 + ":v1, user-u1",
        "s1:lab:cephfs:" + NOBODYS + ":v1, user-u1",
        "s1:lab:cephfs:g:v1, user-u1",
        "static:lab:cephfs:/volumes/" + U1 + "/v1/uuid, user-u2",
        "static:lab:cephfs:/volumes/" + U1 + ", user-u2",
        "static:lab:cephfs:/volumes/" + NOBODYS + "/v1, user-u1",
        "static:lab:cephfs:/volumes/_deleting/v1, user-u1",
        "static:lab:cephfs:/volumes, user-u1",
        "static:lab:cephfs:/volumes/" + U1 + ", user-u1",
        "static:lab:cephfs:/volumes/" + U1 + "/mine, user-u1",
        "static:lab:cephfs:/datasets, anybody",
        "static:lab:cephfs:/datasets/all, anybody",
        "static:lab:cephfs:/datasets/all/below, anybody",
        "static:lab:cephfs:/datasets/undeclared, anybody",
        "static:lab:cephfs:/sets, anybody",
        "static:lab:cephfs:/sets/aside, anybody",
        "static:lab:cephfs:/sets/aside/below, anybody",
    })
    void notGranted(String volume, String namespace) {
        assertThrows(DriverException.AccessDenied.class, () -> check(volume, Map.of(), Optional.of(namespace)));
        assertDoesNotThrow(() -> check(volume, Map.of(), Optional.empty()));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource({
        "/volumes/" + U2 + ", v1",
        "/volumes, " + U2 + "/v1",
        "/volumes/" + U2 + ", v1/.snap/s1",
    })
    void whatAPersonWroteIntoTheContextCountsToo(String mountPath, String dataPath) {
        String mine = "s1:lab:cephfs:" + U1 + ":v1";
        Map<String, String> context = Map.of("mountPath", mountPath, "dataPath", dataPath);
        assertThrows(DriverException.AccessDenied.class, () -> check(mine, context, Optional.of("user-u1")));
    }

    @Test
    void withoutGrantsNothingIsChecked() {
        assertDoesNotThrow(() -> new PublishCheck(Optional.empty(), NamespacePlaces.NONE, Optional.empty())
                .check(VOLUME, Optional.empty(), Optional.of("user-u2"), Optional.empty()));
    }

    @Test
    void aGrantThatIsKnownIsNotAskedForAgainAndARefusalIs() {
        List<Duration> asked = new ArrayList<>();
        PublishCheck check = check(age -> {
            asked.add(age);
            return new GrantsSource.KnownGrants(GRANTS, Optional.empty());
        });
        check.check(VOLUME, Optional.empty(), Optional.of("user-u1"), Optional.empty());
        assertEquals(List.of(Duration.ofSeconds(60)), asked);
        assertThrows(
                DriverException.AccessDenied.class,
                () -> check.check(VOLUME, Optional.empty(), Optional.of("other"), Optional.empty()));
        assertEquals(3, asked.size());
        assertTrue(asked.getLast().compareTo(Duration.ofSeconds(10)) < 0, () -> "asked for " + asked);
    }

    @Test
    void grantsThatMayBeOutOfDateLetInAndDoNotRefuse() {
        PublishCheck check = check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.of("the API is down")));
        assertDoesNotThrow(() -> check.check(VOLUME, Optional.empty(), Optional.of("user-u1"), Optional.empty()));
        DriverException unsure = assertThrows(
                DriverException.BackendUnavailable.class,
                () -> check.check(VOLUME, Optional.empty(), Optional.of("user-u2"), Optional.empty()));
        assertTrue(unsure.getMessage().contains("the API is down"), unsure::getMessage);
        assertTrue(unsure.getMessage().contains("was not granted it"), unsure::getMessage);
    }

    @Test
    void aKubeletThatDoesNotSayForWhomIsRefused() {
        PublishCheck check = new PublishCheck(
                Optional.of(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty())),
                NamespacePlaces.NONE,
                Optional.of("siphon"));
        assertDoesNotThrow(() -> check.check(VOLUME, Optional.empty(), Optional.of("user-u1"), Optional.empty()));
        DriverException refused = assertThrows(
                DriverException.InUse.class,
                () -> check.check(VOLUME, Optional.empty(), Optional.empty(), Optional.empty()));
        assertTrue(refused.getMessage().contains("podInfoOnMount"), refused::getMessage);
    }

    /// What packers read: `VOLUME, MOUNT PATH, DATA PATH, READ ONLY, NAMESPACE, POD`, with %s for the packer's
    /// name.
    private static final String SHALLOW = "s1:lab:cephfs:" + U1 + ":r00000000000000000000001";

    private static final String OF_U1 = "/volumes/" + U1;
    private static final String SNAPSHOT = "v00000000000000000001/.snap/i00000000000000000001";
    private static final String PACKER =
            Packer.of(SnapshotId.parse("s1:lab:cephfs:" + U1 + ":v00000000000000000001@i00000000000000000001"));

    /// Where that snapshot's packer creates the image; see DatasetPlace in the controller.
    private static final String IMAGE = "/datasets/%s";

    private static void checkForPod(String volume, String mount, String data, boolean readOnly, String[] pod) {
        VolumeId id = VolumeId.parse(volume);
        VolumeContext context = VolumeContext.fromMap(
                id,
                Map.of(
                        "monitors",
                        "10.0.0.1",
                        "mountPath",
                        mount,
                        "dataPath",
                        data,
                        "readOnly",
                        String.valueOf(readOnly)));
        new PublishCheck(
                        Optional.of(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty())),
                        NamespacePlaces.NONE,
                        Optional.of("siphon"))
                .check(id, Optional.of(context), Optional.of(pod[0]), Optional.of(pod[1].formatted(PACKER)));
    }

    @Test
    void aPackerReadsItsOwnSnapshot() {
        assertDoesNotThrow(() -> checkForPod(SHALLOW, OF_U1, SNAPSHOT, true, new String[] {"siphon", "%s-0-x"}));
        assertDoesNotThrow(() -> checkImage(IMAGE, "siphon", "%s-0-x"));
    }

    private static void checkImage(String path, String namespace, String pod) {
        VolumeId target =
                VolumeId.parse("static:lab:cephfs:" + path.formatted(PACKER.substring(Packer.PREFIX.length())));
        new PublishCheck(
                        Optional.of(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty())),
                        NamespacePlaces.NONE,
                        Optional.of("siphon"))
                .check(
                        target,
                        Optional.of(VolumeContext.fromMap(target, Map.of("monitors", "10.0.0.1"))),
                        Optional.of(namespace),
                        Optional.of(pod.formatted(PACKER)));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a pod of another namespace, " + IMAGE + ", user-u2, %s-x",
        "no packer, " + IMAGE + ", siphon, pod",
        "another packer, " + IMAGE + ", siphon, siphon-pack-i000000000000001-x",
        "another image, /datasets/i000000000000001, siphon, %s-x",
        "what lies below, " + IMAGE + "/image, siphon, %s-x",
        "all datasets, /datasets, siphon, %s-x",
    })
    void nobodyElseIsShownTheDirectoryOfAnImage(String why, String path, String namespace, String pod) {
        assertThrows(DriverException.AccessDenied.class, () -> checkImage(path, namespace, pod), why);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "a pod of another namespace, " + SHALLOW + ", " + OF_U1 + ", " + SNAPSHOT + ", true, user-u2, %s-x",
        "no packer, " + SHALLOW + ", " + OF_U1 + ", " + SNAPSHOT + ", true, siphon, pod",
        "another packer, " + SHALLOW + ", " + OF_U1 + ", " + SNAPSHOT
                + ", true, siphon, siphon-pack-i000000000000001-x",
        "a volume that is written, " + SHALLOW + ", " + OF_U1 + ", " + SNAPSHOT + ", false, siphon, %s-x",
        "an account's own volume, s1:lab:cephfs:" + U1 + ":v00000000000000000001, " + OF_U1 + ", " + SNAPSHOT
                + ", true, siphon, %s-x",
        "a volume said to be read only, s1:lab:cephfs:" + U1 + ":v00000000000000000001, " + OF_U1
                + ", v00000000000000000001, true, siphon, %s-x",
        "what the snapshot is of, " + SHALLOW + ", " + OF_U1 + ", v00000000000000000001, true, siphon, %s-x",
        "another snapshot, " + SHALLOW + ", " + OF_U1
                + ", v00000000000000000001/.snap/i00000000000000000002, true, siphon, %s-x",
        "the whole account, " + SHALLOW + ", /volumes, " + U1 + ", true, siphon, %s-x",
        "another account's, " + SHALLOW + ", /volumes/" + U2 + ", " + SNAPSHOT + ", true, siphon, %s-x",
    })
    void otherPodsOfTheDriversNamespaceNeedAGrant(
            String why, String volume, String mount, String data, boolean readOnly, String namespace, String pod) {
        assertThrows(
                DriverException.AccessDenied.class,
                () -> checkForPod(volume, mount, data, readOnly, new String[] {namespace, pod}),
                why);
    }

    private static PublishCheck check(GrantsSource grants) {
        return new PublishCheck(Optional.of(grants), NamespacePlaces.NONE, Optional.empty());
    }

    private static PublishCheck partial(List<String> asked, int more, Grants.Part... parts) {
        Grants some = new Grants(GRANTS.groups(), GRANTS.datasets(), Set.of(parts));
        return new PublishCheck(
                Optional.of(_ -> new GrantsSource.KnownGrants(some, Optional.empty())),
                namespace -> {
                    asked.add(namespace);
                    return new NamespacePlaces.Places(
                            namespace.equals("late") ? Set.of(new Grants.GroupKey("lab", "cephfs", U1)) : Set.of(),
                            more);
                },
                Optional.empty());
    }

    private static void publish(PublishCheck check, VolumeId volume, String namespace) {
        check.check(volume, Optional.empty(), Optional.of(namespace), Optional.empty());
    }

    @Test
    void whatHasNoRoomAmongTheGrantsOfAllIsInTheNamespacesOwn() {
        List<String> asked = new ArrayList<>();
        PublishCheck check = partial(asked, 0, Grants.Part.GROUPS);
        publish(check, VOLUME, "user-u1");
        assertEquals(List.of(), asked, "who is let in needs no more");
        publish(check, VOLUME, "late");
        assertEquals(List.of("late"), asked);
        assertThrows(DriverException.AccessDenied.class, () -> publish(check, VOLUME, "user-u2"));
        VolumeId others = VolumeId.parse("s1:lab:cephfs:" + U2 + ":v1");
        assertThrows(DriverException.AccessDenied.class, () -> publish(check, others, "late"));
        assertThrows(
                DriverException.AccessDenied.class,
                () -> publish(check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty())), VOLUME, "late"));
    }

    @Test
    void aNamespacesOwnThatIsFullIsNamed() {
        String said = assertThrows(
                        DriverException.AccessDenied.class,
                        () -> publish(partial(new ArrayList<>(), 3, Grants.Part.GROUPS), VOLUME, "user-u2"))
                .getMessage();
        assertTrue(said.contains("NamespaceAccess") && said.contains("3 others"), said);
    }

    /// Nodes do not know all datasets: one may be at such a path.
    @ParameterizedTest
    @ValueSource(strings = {"/home/u1", "/volumes/_nogroup/old", OF_U1 + "/old"})
    void whereDatasetsOutsideTheirDirectoryAreMissingNoPathByHandIsShown(String path) {
        VolumeId aside = VolumeId.parse("static:lab:cephfs:" + path);
        publish(check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty())), aside, "user-u1");
        publish(partial(new ArrayList<>(), 0, Grants.Part.DATASETS), aside, "user-u1");
        PublishCheck check = partial(new ArrayList<>(), 0, Grants.Part.DATASETS, Grants.Part.PLACES);
        String said = assertThrows(DriverException.AccessDenied.class, () -> publish(check, aside, "user-u1"))
                .getMessage();
        assertTrue(said.contains("siphon-grants is full"), said);
        publish(check, VOLUME, "user-u1");
    }

    @Test
    void aClaimsDatasetThatHasNoRoomAmongTheGrantsIsNotCalledGone() {
        VolumeId missing = VolumeId.parse(DATASET + CLAIM + "/datasets/missing");
        String said = assertThrows(
                        DriverException.BackendUnavailable.class,
                        () -> publish(partial(new ArrayList<>(), 0, Grants.Part.DATASETS), missing, "user-u1"))
                .getMessage();
        assertTrue(said.contains("siphon-grants is full"), said);
        GrantsSource whole = _ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty());
        assertThrows(DriverException.AccessDenied.class, () -> publish(check(whole), missing, "user-u1"));
    }

    @Test
    void whereDatasetsAreMissingNothingIsWithdrawn() {
        PublishCheck check = partial(new ArrayList<>(), 0, Grants.Part.DATASETS);
        VolumeId missing = VolumeId.parse(DATASET + CLAIM + "/datasets/missing");
        assertEquals(Optional.empty(), check.withdrawn(missing, "user-u1"));
        assertTrue(check.withdrawn(VolumeId.parse(DATASET + "/datasets/nobodys"), "user-u1")
                .isPresent());
    }
}
