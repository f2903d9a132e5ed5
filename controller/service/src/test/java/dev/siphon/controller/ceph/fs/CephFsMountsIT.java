package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.call.NativeThreads;
import dev.siphon.csi.DriverException;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CephFsMountsIT {
    private static final String COPIER = CephFsMounts.copiers("lab") + "1";

    private final ClientIdentity identity = CephLab.identity();
    private final MountPath directory = MountPath.of("/it-" + UUID.randomUUID());

    @Test
    void theNextRunOfAControllerEndsTheSessionsThatTheLastHasLeft() {
        CephFsMounts killed = mounts(identity);
        try (Mount calls = on("calls", killed::forCalls);
                Mount copy = on(COPIER, killed::forCopy);
                Mount next = on("calls", mounts(identity)::forCalls)) {
            assertTrue(isCutOff(calls), "the session of calls");
            assertTrue(isCutOff(copy), "the session of a copy");
            assertFalse(isCutOff(next), "the new session");
        }
    }

    @Test
    void anotherControllersSessionIsLeftAlone() {
        try (Mount one = on("calls", mounts(identity)::forCalls);
                Mount other = on("calls", mounts(CephLab.identity())::forCalls)) {
            assertFalse(isCutOff(one));
            assertFalse(isCutOff(other));
        }
    }

    @Test
    void aMountOfOneRunReplacesItsForerunnerAndNoOther() {
        CephFsMounts mounts = mounts(identity);
        try (Mount hanging = on("calls", mounts::forCalls);
                Mount copy = on(COPIER, mounts::forCopy);
                Mount calls = on("calls", mounts::forCalls)) {
            assertTrue(isCutOff(hanging));
            assertFalse(isCutOff(copy));
            assertFalse(isCutOff(calls));
        }
    }

    private static CephFsMounts mounts(ClientIdentity identity) {
        return new CephFsMounts(CephLab::access, CephLab.fileSystem(), CephLab.QUICK, identity);
    }

    /// Returns whether the MDS has evicted the mount's session; only a write shows it.
    private boolean isCutOff(Mount mount) {
        return on("look", () -> {
            try {
                mount.makeDirectory(directory);
                mount.removeDirectory(directory);
                return false;
            } catch (DriverException.BackendUnavailable e) {
                return mount.client().isCutOff();
            }
        });
    }

    private static <T> T on(String thread, Supplier<T> body) {
        return CompletableFuture.supplyAsync(body, NativeThreads.named(thread)::start)
                .join();
    }
}
