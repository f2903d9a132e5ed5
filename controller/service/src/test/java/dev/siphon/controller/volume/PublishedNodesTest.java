package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.request;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.volume.VolumeRequest.ClaimAccessMode;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class PublishedNodesTest {
    private static final String ONE = "node-1@192.0.2.11";
    private static final String TWO = "node-2@192.0.2.12";

    private final World world = new World();
    private final VolumeId.Provisioned volume = world.create(request("pvc-1"));

    private void attach(String node, ClaimAccessMode mode, boolean readOnly) {
        world.domain.attachments().attach(volume, node, mode, readOnly);
    }

    @Test
    void attachMayBeRepeatedAndOutlivesTheController() {
        for (int i = 0; i < 2; i++) {
            attach(ONE, ClaimAccessMode.SINGLE_NODE_WRITER, false);
            assertEquals(List.of(ONE), world.domain.attachments().nodes(volume));
        }
        world.restart();
        attach(ONE, ClaimAccessMode.SINGLE_NODE_WRITER, false);
        assertEquals(List.of(ONE), world.domain.attachments().nodes(volume));
    }

    @Test
    void anotherWayOnTheSameNodeIsRefused() {
        attach(ONE, ClaimAccessMode.SINGLE_NODE_WRITER, false);
        assertThrows(
                DriverException.IncompatibleExisting.class,
                () -> attach(ONE, ClaimAccessMode.SINGLE_NODE_WRITER, true));
        assertThrows(
                DriverException.IncompatibleExisting.class,
                () -> attach(ONE, ClaimAccessMode.MULTI_NODE_MULTI_WRITER, false));
    }

    @Test
    void aSecondNodeIsRefusedByModesThatAllowOne() {
        attach(ONE, ClaimAccessMode.SINGLE_NODE_WRITER, false);
        for (ClaimAccessMode mode : ClaimAccessMode.values()) {
            var refused = assertThrows(DriverException.InUse.class, () -> attach(TWO, mode, false), mode.toString());
            assertEquals(true, String.valueOf(refused.getMessage()).contains(ONE), "it says which node");
        }
        assertEquals(List.of(ONE), world.domain.attachments().nodes(volume));
    }

    @Test
    void manyNodesAreAllowedByModesForMany() {
        attach(ONE, ClaimAccessMode.MULTI_NODE_MULTI_WRITER, false);
        attach(TWO, ClaimAccessMode.MULTI_NODE_MULTI_WRITER, false);
        assertEquals(List.of(ONE, TWO), world.domain.attachments().nodes(volume));
        assertThrows(
                DriverException.InUse.class,
                () -> attach("node-3@192.0.2.13", ClaimAccessMode.SINGLE_NODE_WRITER, false));
    }

    @Test
    void oneWriterOfManyNodesIsOne() {
        attach(ONE, ClaimAccessMode.MULTI_NODE_SINGLE_WRITER, false);
        assertThrows(DriverException.InUse.class, () -> attach(TWO, ClaimAccessMode.MULTI_NODE_SINGLE_WRITER, false));
        attach(TWO, ClaimAccessMode.MULTI_NODE_SINGLE_WRITER, true);
        assertEquals(List.of(ONE, TWO), world.domain.attachments().nodes(volume));
    }

    @Test
    void detachFencesThatNodeAlone() {
        attach(ONE, ClaimAccessMode.MULTI_NODE_MULTI_WRITER, false);
        attach(TWO, ClaimAccessMode.MULTI_NODE_MULTI_WRITER, false);
        for (int i = 0; i < 2; i++) {
            world.domain.attachments().detach(volume, Optional.of(ONE));
            assertEquals(List.of(TWO), world.domain.attachments().nodes(volume));
            assertEquals(List.of(NodeId.parse(ONE)), world.ceph.fenced());
        }
        world.domain.attachments().detach(volume, Optional.empty());
        assertEquals(List.of(), world.domain.attachments().nodes(volume));
        assertEquals(List.of(NodeId.parse(ONE), NodeId.parse(TWO)), world.ceph.fenced());
    }

    @Test
    void aNodeThatCannotBeFencedKeepsItsAttachment() {
        attach(ONE, ClaimAccessMode.SINGLE_NODE_WRITER, false);
        world.restart((call, make) -> {
            if (call.method().equals("fence")) {
                throw new DriverException.BackendUnavailable("the MDS does not answer");
            }
            return make.get();
        });
        assertThrows(
                DriverException.BackendUnavailable.class,
                () -> world.domain.attachments().detach(volume, Optional.of(ONE)));
        assertEquals(List.of(ONE), world.domain.attachments().nodes(volume));
    }

    @Test
    void whatIsGoneIsDetached() {
        attach(ONE, ClaimAccessMode.SINGLE_NODE_WRITER, false);
        assertThrows(
                DriverException.InUse.class, () -> world.domain.attachments().checkDetached(volume));
        world.domain.volumes().delete(volume);
        world.domain.attachments().detach(volume, Optional.of(ONE));
        world.domain.attachments().checkDetached(volume);
        assertEquals(List.of(), world.domain.attachments().nodes(volume));
    }

    @Test
    void onlyNodesWithAnAddressAreNodes() {
        for (String node : List.of("node-1", "node-1@", "@192.0.2.1", "node 1@192.0.2.1")) {
            assertThrows(
                    DriverException.NotFound.class,
                    () -> attach(node, ClaimAccessMode.SINGLE_NODE_WRITER, false),
                    node);
        }
        assertThrows(
                DriverException.NotFound.class,
                () -> world.domain
                        .attachments()
                        .attach(
                                SubvolumeGroup.of(volume).volume("v".repeat(21)),
                                ONE,
                                ClaimAccessMode.SINGLE_NODE_WRITER,
                                false));
    }

    @Test
    void staticVolumesAreNotAttachedButMustExist() {
        world.ceph.directory("/data", OptionalLong.empty());
        var there = new VolumeId.Static("lab", "fs", "/data");
        world.domain.attachments().attach(there, ONE, ClaimAccessMode.MULTI_NODE_MULTI_WRITER, false);
        assertEquals(List.of(), world.domain.attachments().nodes(there));
        world.domain.attachments().detach(there, Optional.of(ONE));
        var missing = new VolumeId.Static("lab", "fs", "/missing");
        assertThrows(
                DriverException.NotFound.class,
                () -> world.domain.attachments().attach(missing, ONE, ClaimAccessMode.MULTI_NODE_MULTI_WRITER, false));
    }
}
