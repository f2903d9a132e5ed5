package dev.siphon.controller.grant;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.InMemoryCeph;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class AdoptedVolumesTest {
    private static final SubvolumeGroup GROUP =
            new SubvolumeGroup(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, "a00000000000000000001");

    private final CephPorts ceph = new InMemoryCeph().ports();
    private final List<String> allowed = new ArrayList<>();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private Optional<DriverException> refusal = Optional.empty();
    private int asked;
    private final AdoptedVolumes adopted = new AdoptedVolumes(
            ceph.files(),
            (group, account, namespace) -> {
                asked++;
                refusal.ifPresent(why -> {
                    throw why;
                });
                allowed.add(group.name() + " " + account + " " + namespace);
            },
            () -> now);

    @BeforeEach
    void makeGroup() {
        ceph.subvolumes().createGroup(GROUP, OptionalLong.empty(), Optional.empty());
        ceph.files().setNote(GROUP.cluster(), GROUP.fileSystem(), GROUP.path(), AccountNote.NAME, "10001 u1");
    }

    @Test
    void theNamespaceOfAPersistentVolumesClaimMayUseTheAccountsVolumesOnce() {
        adopted.adopt(GROUP.volume("v1"), "team");
        adopted.adopt(GROUP.volume("v2"), "team");
        adopted.reconcile();
        adopted.reconcile();
        assertEquals(List.of(GROUP.name() + " u1 team"), allowed);
    }

    @Test
    void aNamespaceThatIsNotThereYetIsAskedForMoreAndMoreSeldomUntilItIs() {
        refusal = Optional.of(new DriverException.NotFound("namespace team is gone"));
        adopted.adopt(GROUP.volume("v1"), "team");
        for (int seconds = 0; seconds < 600; seconds++) {
            adopted.reconcile();
            now = now.plusSeconds(1);
        }
        assertEquals(23, asked);
        refusal = Optional.empty();
        now = now.plusSeconds(30);
        adopted.reconcile();
        assertEquals(List.of(GROUP.name() + " u1 team"), allowed);
    }
}
