package dev.siphon.controller.recovery;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.volume.CephPorts;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class MetadataWriterTest {
    private final RecoveredWorld world = new RecoveredWorld();

    /// The commands to the mgr, and what the next one fails with.
    private final List<String> commands = new ArrayList<>();

    private Optional<DriverException> failure = Optional.empty();

    private final CephPorts ports = new CephPorts(
            world.ports.clusters(),
            (Subvolumes) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Subvolumes.class}, (_, method, arguments) -> {
                        commands.add(method.getName());
                        if (failure.isPresent()) {
                            throw failure.get();
                        }
                        try {
                            return method.invoke(world.ports.subvolumes(), arguments);
                        } catch (InvocationTargetException refused) {
                            throw refused.getCause();
                        }
                    }),
            world.ports.files(),
            world.ports.quiesce(),
            world.ports.sessions());
    private final MetadataWriter writer = new MetadataWriter(ports, () -> world.now);

    private void want(VolumeId.Provisioned volume, String name) {
        writer.want(volume, world.volume(name).orElseThrow().metadata());
    }

    @Test
    void aSubvolumeSaysItsClaimItsVolumeAndItsAccount() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        world.writer().reconcile();
        world.metadata.writeNext();
        assertEquals(
                Map.of(
                        "csi.storage.k8s.io/pv/name", "pvc-1",
                        "csi.storage.k8s.io/pvc/namespace", "team",
                        "csi.storage.k8s.io/pvc/name", "data",
                        "cephfs.siphon.dev/account", "u1"),
                world.ceph.metadata(volume));
    }

    @Test
    void oneStepWritesOneVolume() {
        VolumeId.Provisioned one = world.claimed("pvc-1", "u1", "team");
        VolumeId.Provisioned other = world.claimed("pvc-2", "u2", "team");
        want(one, "pvc-1");
        want(other, "pvc-2");
        writer.writeNext();
        assertEquals(Map.of(), world.ceph.metadata(other));
        assertEquals(4, commands.size());
        writer.writeNext();
        assertEquals("u2", world.ceph.metadata(other).get(MetadataWriter.ACCOUNT));
        writer.writeNext();
        assertEquals(8, commands.size());
    }

    @Test
    void aControllerThatStartsAgainAsksNoMgrForWhatIsThere() {
        VolumeId.Provisioned one = world.claimed("pvc-1", "u1", "team");
        VolumeId.Provisioned other = world.claimed("pvc-2", "u1", "team");
        want(one, "pvc-1");
        writer.writeNext();
        commands.clear();
        MetadataWriter next = new MetadataWriter(ports, () -> world.now);
        next.want(one, world.volume("pvc-1").orElseThrow().metadata());
        next.want(other, world.volume("pvc-2").orElseThrow().metadata());
        next.writeNext();
        assertEquals("pvc-2", world.ceph.metadata(other).get(MetadataWriter.VOLUME));
        assertEquals(List.of("setNote", "setNote", "setNote", "setNote"), commands);
    }

    @Test
    void aClaimThatIsGoneLeavesTheMetadata() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        want(volume, "pvc-1");
        writer.writeNext();
        writer.want(volume, Map.of(MetadataWriter.VOLUME, "pvc-1"));
        writer.writeNext();
        assertEquals(Map.of(MetadataWriter.VOLUME, "pvc-1", MetadataWriter.ACCOUNT, "u1"), world.ceph.metadata(volume));
    }

    @Test
    void aMgrThatDoesNotAnswerIsAskedAgain() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        want(volume, "pvc-1");
        failure = Optional.of(new DriverException.BackendUnavailable("no mgr"));
        writer.writeNext();
        assertEquals(1, commands.size(), "one command is enough to know");
        failure = Optional.empty();
        writer.writeNext();
        assertEquals(1, commands.size(), "it rests for a minute");
        world.now = world.now.plus(MetadataWriter.AFTER_FAILURE);
        writer.writeNext();
        assertEquals("pvc-1", world.ceph.metadata(volume).get(MetadataWriter.VOLUME));
    }

    @Test
    void anAccountWhoseClientHangsIsAskedAgainAfterTheOthers() {
        VolumeId.Provisioned hanging = world.claimed("pvc-1", "u1", "team");
        VolumeId.Provisioned other = world.claimed("pvc-2", "u2", "team");
        want(hanging, "pvc-1");
        want(other, "pvc-2");
        failure = Optional.of(new DriverException.OperationPending("held by a client"));
        writer.writeNext();
        failure = Optional.empty();
        writer.writeNext();
        assertEquals("pvc-2", world.ceph.metadata(other).get(MetadataWriter.VOLUME));
        writer.writeNext();
        assertEquals("pvc-1", world.ceph.metadata(hanging).get(MetadataWriter.VOLUME));
    }

    @Test
    void aTryThatStoppedHalfWayLeavesNoClaimThatIsGone() {
        VolumeId.Provisioned volume = world.claimed("pvc-1", "u1", "team");
        world.ports.subvolumes().setNote(volume, MetadataWriter.CLAIM, "data");
        writer.want(volume, Map.of(MetadataWriter.VOLUME, "pvc-1"));
        writer.writeNext();
        assertEquals(Map.of(MetadataWriter.VOLUME, "pvc-1", MetadataWriter.ACCOUNT, "u1"), world.ceph.metadata(volume));
    }

    @Test
    void aVolumeThatTheMgrRefusesHoldsUpNoOther() {
        VolumeId.Provisioned refused = world.claimed("pvc-1", "u1", "team");
        VolumeId.Provisioned other = world.claimed("pvc-2", "u1", "team");
        VolumeId.Provisioned deleted =
                new VolumeId.Provisioned(refused.cluster(), refused.fileSystem(), refused.group(), "none");
        want(refused, "pvc-1");
        writer.want(deleted, Map.of(MetadataWriter.VOLUME, "pvc-0"));
        want(other, "pvc-2");
        failure = Optional.of(new DriverException.BackendFault("not this one"));
        writer.writeNext();
        failure = Optional.empty();
        writer.writeNext();
        writer.writeNext();
        assertEquals("pvc-2", world.ceph.metadata(other).get(MetadataWriter.VOLUME));
        assertEquals(Map.of(), world.ceph.metadata(refused));
    }
}
