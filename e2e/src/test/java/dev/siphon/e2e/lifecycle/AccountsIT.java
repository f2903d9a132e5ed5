package dev.siphon.e2e.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.CreateVolumeRequest;
import csi.v1.CreateVolumeResponse;
import csi.v1.Volume;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Daemon;
import dev.siphon.e2e.lab.Lab;
import dev.siphon.e2e.lab.LabLdap;
import io.grpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/// Volumes of accounts in a real OpenLDAP: who owns them after names and numbers change, and what works while the
/// directory does not reply.
@ExtendWith(LeavesNothingBehind.class)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
final class AccountsIT {
    private static final int UID = 41_001;

    /// Longer than any test pauses the directory, and shorter than the callers' deadline.
    private static final String PATIENT = ", \"timeoutSeconds\": 20, \"cache\": {\"freshSeconds\": 300}";

    private static final Duration BACK_WITHIN = Duration.ofSeconds(60);

    private Setup setup;

    @BeforeAll
    void start() {
        setup = Setup.startWithLdap(PATIENT);
    }

    @AfterAll
    void end() {
        Daemon.LDAP.restore();
        setup.close();
    }

    private Outcome<CreateVolumeResponse> create(String name, String owner) {
        CreateVolumeRequest request = Requests.volume(name, owner, Requests.GIB);
        return Outcome.of(() -> setup.controller().controller().createVolume(request));
    }

    private static Set<String> groups() {
        try (CephTree tree = CephTree.mount(Lab.here())) {
            return Set.copyOf(tree.groups());
        }
    }

    @Test
    void aRenamedAccountKeepsItsVolumes() {
        LabLdap.add("before", UID);
        Volume volume = setup.volume("kept", "before", Requests.GIB);
        Path mounted = setup.mounts().mount(volume);
        Contents.write(UID, mounted);

        LabLdap.rename("before", "after");

        assertEquals(
                volume.getVolumeId(), create("kept", "after").get().getVolume().getVolumeId());
        assertEquals(Set.of(UID + ":" + UID), Contents.owners(mounted));
        LabLdap.remove("after");
    }

    @Test
    void aReusedUidInheritsNothing() {
        LabLdap.add("first", UID + 1);
        Volume volume = setup.volume("reused", "first", Requests.GIB);
        Contents.write(UID + 1, setup.mounts().mount(volume));
        LabLdap.remove("first");
        LabLdap.add("second", UID + 1);
        LabLdap.rename("second", "first-again");

        Volume other = setup.volume("reused", "first-again", Requests.GIB);

        assertNotEquals(volume.getVolumeId(), other.getVolumeId());
        Path mounted = setup.mounts().mount(other);
        assertEquals(Map.of(), Contents.read(mounted));
        assertEquals(0, Contents.as(UID + 1, mounted, "printf mine > own").exit());
        LabLdap.remove("first-again");
    }

    @Test
    void theNameOfAnAccountThatIsGoneInheritsNothing() {
        try (Setup forgetful = Setup.startWithLdap(", \"cache\": {\"freshSeconds\": 0}")) {
            LabLdap.add("again", UID + 2);
            Volume volume = forgetful.volume("by-name", "again", Requests.GIB);
            LabLdap.remove("again");
            Outcome<?> gone = Outcome.of(() -> forgetful
                    .controller()
                    .controller()
                    .createVolume(Requests.volume("by-name", "again", Requests.GIB)));
            assertEquals(Status.Code.INVALID_ARGUMENT, gone.code(), gone.message());
            LabLdap.add("again", UID + 2);

            Volume other = forgetful.volume("by-name", "again", Requests.GIB);

            assertNotEquals(volume.getVolumeId(), other.getVolumeId());
            assertEquals(Map.of(), Contents.read(forgetful.mounts().mount(other)));
            LabLdap.remove("again");
        }
    }

    @Test
    void whileTheDirectoryIsSilentNobodyWaitsButWhoNeedsIt() throws Exception {
        Volume mounted = setup.volume("before-silence", "u41", Requests.GIB);
        Set<String> before = groups();
        Daemon.LDAP.pause();
        CompletableFuture<Outcome<CreateVolumeResponse>> waits =
                CompletableFuture.supplyAsync(() -> create("in-silence", "u42"));
        try {
            Path target = setup.mounts().mount(mounted);
            assertEquals(0, Contents.as(10_041, target, "printf x > file").exit());
            setup.volume("while-silent", "u41", Requests.GIB);
            setup.mounts().unpublish(mounted, "pod");
            setup.mounts().unstage(mounted);
            assertFalse(waits.isDone(), "who asks for an account that nobody remembers waits");
            assertEquals(before, groups());
        } finally {
            Daemon.LDAP.resume();
        }
        waits.get(60, TimeUnit.SECONDS);
        Await.until(
                "the directory answers",
                BACK_WITHIN,
                () -> create("in-silence", "u42").ok());
        setup.volume("in-silence", "u42", Requests.GIB);
    }

    @Test
    void withoutADirectoryNothingIsMadeForWhomItAloneKnows() {
        Volume known = setup.volume("before-the-end", "u43", Requests.GIB);
        Set<String> before = groups();
        Daemon.LDAP.terminate();
        try {
            Outcome<?> refused = create("after-the-end", "u44");
            assertEquals(Status.Code.UNAVAILABLE, refused.code(), refused.message());
            assertEquals(before, groups());
            setup.mounts().mount(known);
            setup.mounts().unpublish(known, "pod");
            setup.mounts().unstage(known);
            assertEquals(
                    known.getVolumeId(),
                    create("before-the-end", "u43").get().getVolume().getVolumeId());
            assertEquals(200, setup.controllerProcess().readyz());
        } finally {
            Daemon.LDAP.start();
        }
        Await.until(
                "the directory answers",
                BACK_WITHIN,
                () -> create("after-the-end", "u44").ok());
        setup.volume("after-the-end", "u44", Requests.GIB);
    }

    @Test
    void noSpellingMatchesAnotherAccount() {
        Set<String> before = groups();
        for (String name : List.of(
                "*",
                "u*",
                "u1)(uid=*",
                "*)(objectClass=*",
                "u1\0",
                "u1 ",
                " u1",
                "U1",
                "u1,ou=people",
                "\\75\\31",
                "uid=u1",
                "u\u0661",
                "\uff55\uff11",
                "u1\u200b",
                "group:*",
                "group:lab)(cn=*")) {
            Outcome<?> refused = create("injected", name);
            assertEquals(Status.Code.INVALID_ARGUMENT, refused.code(), name + ": " + refused.message());
        }
        assertEquals(before, groups());
        assertTrue(create("not-injected", "u45").ok());
        setup.volume("not-injected", "u45", Requests.GIB);
    }
}
