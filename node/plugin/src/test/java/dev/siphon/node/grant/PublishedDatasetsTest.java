package dev.siphon.node.grant;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Grants;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which datasets a namespace may read without the controller's answer.
final class PublishedDatasetsTest {
    private static final String U1 = "a00000000000000000001";
    private static final String DATASET = "dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:";
    private static final String CLAIM = "0123456789av:";
    private static final Grants GRANTS = new Grants(
            Map.of(),
            Map.of(
                    "u1.all", new Grants.Shared(dataset("/datasets/all"), true, new TreeSet<>()),
                    "u1.mine",
                            new Grants.Shared(
                                    dataset("/volumes/" + U1 + "/mine"),
                                    false,
                                    new TreeSet<>(List.of("user-u1", "vision"))),
                    "nobodys", new Grants.Shared(dataset("/datasets/nobodys"), false, new TreeSet<>())));

    private static VolumeId.DatasetVolume dataset(String path) {
        return (VolumeId.DatasetVolume) VolumeId.parse(DATASET + path);
    }

    private static PublishCheck check(GrantsSource source) {
        return new PublishCheck(Optional.of(source), NamespacePlaces.NONE, Optional.of("siphon"));
    }

    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({
        "u1/all, anybody, /datasets/all",
        "u1.all, anybody, /datasets/all",
        "u1/mine, vision, /volumes/a00000000000000000001/mine"
    })
    void whatIsPublishedNamesTheDataset(String dataset, String namespace, String path) {
        assertEquals(
                dataset(path),
                check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty()))
                        .published(dataset, namespace));
    }

    @ParameterizedTest(name = "{0} from {1}")
    @CsvSource({"u1/mine, user-u2", "nobodys, user-u1", "u1/gone, user-u1"})
    void whatIsPublishedDecidesWithoutTheController(String dataset, String namespace) {
        PublishCheck check = check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty()));
        assertThrows(DriverException.AccessDenied.class, () -> check.published(dataset, namespace));
    }

    @Test
    void whatIsPublishedDecidesAboutClaims() {
        PublishCheck check = check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.empty()));
        assertDoesNotThrow(() -> check.checkPublished(claim("/datasets/all"), "anybody"));
        assertThrows(
                DriverException.AccessDenied.class,
                () -> check.checkPublished(claim("/volumes/" + U1 + "/mine"), "user-u2"));
        assertThrows(
                DriverException.AccessDenied.class, () -> check.checkPublished(claim("/datasets/gone"), "user-u1"));
    }

    private static VolumeId.DatasetVolume claim(String path) {
        return (VolumeId.DatasetVolume) VolumeId.parse(DATASET + CLAIM + path);
    }

    @Test
    void onlyWhatIsPublishedNowCounts() {
        List<Duration> asked = new ArrayList<>();
        var _ = check(age -> {
                    asked.add(age);
                    return new GrantsSource.KnownGrants(GRANTS, Optional.empty());
                })
                .published("u1/all", "anybody");
        assertEquals(List.of(Duration.ZERO), asked);
        PublishCheck old = check(_ -> new GrantsSource.KnownGrants(GRANTS, Optional.of("the API is down")));
        assertThrows(DriverException.BackendUnavailable.class, () -> old.published("u1/all", "anybody"));
        PublishCheck none = new PublishCheck(Optional.empty(), NamespacePlaces.NONE, Optional.empty());
        assertThrows(DriverException.BackendUnavailable.class, () -> none.published("u1/all", "anybody"));
        Grants full = new Grants(Map.of(), Map.of(), Set.of(Grants.Part.DATASETS));
        PublishCheck partial = check(_ -> new GrantsSource.KnownGrants(full, Optional.empty()));
        assertThrows(DriverException.BackendUnavailable.class, () -> partial.published("u1/all", "anybody"));
    }
}
