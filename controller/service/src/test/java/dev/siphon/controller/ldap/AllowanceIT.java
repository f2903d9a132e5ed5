package dev.siphon.controller.ldap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.unboundid.ldap.sdk.Modification;
import com.unboundid.ldap.sdk.ModificationType;
import dev.siphon.controller.allowance.QuotaReconciler;
import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.GroupUsage.GroupStanding;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// An account of the lab's OpenLDAP, and the effect of its allowance in the lab's Ceph.
@Timeout(300)
final class AllowanceIT {
    private static final long MIB = 1L << 20;
    private static final String NAME = "allowed";

    private final LdapConfig config = LabDirectory.config(List.of(LabDirectory.TLS), "");
    private final LdapConnections connections = LdapConnections.open(config);
    private final LdapDirectory directory = new LdapDirectory(connections, config);
    private final CephAdapter adapter = CephLab.adapter();
    private final ControllerDomain domain = ControllerDomain.over(
            adapter.ports(), new Owners(directory, Optional.empty(), Optional.of(NAME)), Callers.NONE, CephLab.PATIENT);
    private final QuotaReconciler quotaReconciler =
            new QuotaReconciler(adapter.ports(), directory, domain.volumes().ledger(), new PrometheusRegistry());
    private final String dn = LabDirectory.addAccount("uid=" + NAME, NAME, 54_321, "siphonAllowance: 64Mi");
    private final List<VolumeId.Provisioned> volumes = new ArrayList<>();
    private final List<SnapshotId> snapshots = new ArrayList<>();
    private Optional<String> left = Optional.of(dn);

    @AfterEach
    void leaveNothing() {
        snapshots.forEach(domain.snapshots()::delete);
        volumes.forEach(domain.volumes()::delete);
        left.ifPresent(LabDirectory::remove);
        adapter.close();
        connections.close();
    }

    private VolumeId.Provisioned create(String name, long bytes) {
        VolumeId.Provisioned made = (VolumeId.Provisioned) domain.volumes()
                .create(new VolumeRequest(
                        name, new CapacityRange(bytes, 0), ClassParameters.parse(Map.of()), false, Optional.empty()))
                .id();
        volumes.add(made);
        return made;
    }

    private void allow(String text) {
        LabDirectory.change(connection ->
                connection.modify(dn, new Modification(ModificationType.REPLACE, "siphonAllowance", text)));
    }

    private GroupStanding standing() {
        return adapter.ports()
                .files()
                .holdings(SubvolumeGroup.of(volumes.getFirst()))
                .standing();
    }

    private String data(VolumeId.Provisioned volume) {
        return adapter.ports()
                .files()
                .dataDirectory(volume.cluster(), volume.fileSystem(), SubvolumeGroup.pathOf(volume));
    }

    /// Writes `step` MiB at a time and syncs each to disk, no faster than the MDS counts.
    ///
    /// @return how many MiB were written before the file system refused, at most `most`
    private int write(Path file, int most, int step) throws IOException {
        int done = 0;
        long before = standing().writtenBytes();
        try (FileOutputStream out = new FileOutputStream(file.toFile())) {
            while (done < most) {
                out.write(new byte[(int) (step * MIB)]);
                out.getFD().sync();
                done += step;
                long counted = before + done * MIB;
                CephLab.await(Duration.ofSeconds(60), () -> standing().writtenBytes() >= counted);
            }
        } catch (IOException full) {
            assertTrue(String.valueOf(full.getMessage()).contains("quota"), () -> "refused by " + full);
        }
        return done;
    }

    @Test
    void theGroupsQuotaStopsTwoVolumesTogether() throws Exception {
        VolumeId.Provisioned one = create("one", 32 * MIB);
        VolumeId.Provisioned two = create("two", 32 * MIB);
        allow("48Mi");
        quotaReconciler.reconcile();
        try (FuseMount mount = FuseMount.mount()) {
            assertEquals(24, write(mount.at(data(one)).resolve("file"), 24, 24));
            int second = write(mount.at(data(two)).resolve("file"), 100, 4);
            assertTrue(second < 32, () -> second + " MiB: its own quota of 32 MiB stopped it, not what both may have");
        }
    }

    @Test
    void writingSnapshottingAndDeletingInACircleIsRefused() throws Exception {
        VolumeId.Provisioned volume = create("circle", 40 * MIB);
        int taken = 0;
        try (FuseMount mount = FuseMount.mount()) {
            Path file = mount.at(data(volume)).resolve("file");
            while (taken < 10) {
                // without a sync: the snapshot is nevertheless measured at once
                Files.write(file, new byte[(int) (8 * MIB)]);
                try {
                    snapshots.add(domain.snapshots().create(volume, "s" + taken).id());
                } catch (DriverException.QuotaExhausted beyond) {
                    break;
                }
                Files.delete(file);
                taken++;
            }
        }
        // 24 MiB besides the volume's 40. Two snapshots of 8 MiB fit; the mgr's few bytes exclude a third
        assertEquals(2, taken);
        assertEquals(2, adapter.ports().subvolumes().snapshots(volume).size(), "the refused one is not left");
    }

    @Test
    void raisedLoweredAndGoneInLdapReachesTheGroupInOneRound() {
        create("one", 32 * MIB);
        assertEquals(OptionalLong.of(64 * MIB), standing().quotaBytes());
        assertThrows(DriverException.QuotaExhausted.class, () -> create("two", 64 * MIB));
        allow("128Mi");
        quotaReconciler.reconcile();
        assertEquals(OptionalLong.of(128 * MIB), standing().quotaBytes());
        create("two", 64 * MIB);
        allow("16Mi");
        quotaReconciler.reconcile();
        assertEquals(OptionalLong.of(16 * MIB), standing().quotaBytes());
        LabDirectory.remove(dn);
        left = Optional.empty();
        quotaReconciler.reconcile();
        assertEquals(OptionalLong.of(16 * MIB), standing().quotaBytes());
        assertEquals(Optional.of(new AccountNote("54321", NAME)), standing().account());
    }

    @Test
    void allAccountsAreAThousandAndMore() {
        Map<String, String> ids = new java.util.HashMap<>();
        directory.accounts(account -> ids.put(account.name(), account.id()));
        assertTrue(ids.size() > 1_000, () -> ids.size() + " accounts");
        for (String name : List.of(NAME, "u1", "u1000")) {
            assertEquals(
                    directory.account(name).map(it -> it.id()), Optional.ofNullable(ids.get(name)), "account " + name);
        }
    }
}
