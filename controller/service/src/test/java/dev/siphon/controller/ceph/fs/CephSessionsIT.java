package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CephSessionsIT {
    private final CephConnection connection =
            new CephConnection(CephLab.access(), CephLab.QUICK, CephLab.PATIENT, CephLab.metrics());
    private final CephFileSystems fileSystems =
            new CephFileSystems(_ -> connection, CephLab.identity(), CephLab.QUICK, CephLab.PATIENT, CephLab.metrics());
    private final SubvolumeGroup group = new SubvolumeGroup(
            "lab", CephLab.fileSystem(), "se-" + UUID.randomUUID().toString().substring(0, 8));
    private final VolumeId.Provisioned volume = group.volume("v1");

    @BeforeEach
    void makeDirectories() throws IOException {
        try (FuseMount all = FuseMount.mount()) {
            Files.createDirectories(all.at(group.path() + "/v1/data"));
            Files.createDirectories(all.at(group.path() + "-other"));
        }
    }

    @AfterEach
    void close() {
        CephLab.daemon("sig", "CONT", "mds");
        fileSystems.close();
        connection.close();
    }

    @Test
    void onlyTheSessionsOfThatNodeOnThatGroupAreEnded() throws IOException {
        try (FuseMount lost = FuseMount.mount("-r", group.path());
                FuseMount otherGroup = FuseMount.mount("-r", group.path() + "-other");
                FuseMount otherNode = FuseMount.mountAs("othernode", "-r", group.path())) {
            Files.createFile(lost.at("/v1/data/before"));
            NodeId node = new NodeId(hostName(), Optional.empty());
            assertEquals(0, fileSystems.sessions().fence(volume, new NodeId("nobody", Optional.empty())));
            assertEquals(1, fileSystems.sessions().fence(volume, node));
            assertEquals(0, fileSystems.sessions().fence(volume, node));
            assertThrows(IOException.class, () -> Files.createFile(lost.at("/v1/data/after")));
            Files.createFile(otherNode.at("/v1/data/after"));
            Files.createFile(otherGroup.at("/after"));
        }
    }

    @Test
    void aNodeIsAlsoKnownByItsAddress() throws IOException {
        try (FuseMount lost = FuseMount.mountAs("renamed", "-r", group.path())) {
            Files.createFile(lost.at("/v1/data/before"));
            NodeId node = new NodeId("anyname", Optional.ofNullable(System.getenv("LAB_ADDRESS")));
            assertEquals(1, fileSystems.sessions().fence(volume, node));
            assertThrows(IOException.class, () -> Files.createFile(lost.at("/v1/data/after")));
        }
    }

    @Test
    void aNodeIsNotFencedWhileTheMdsHangs() throws IOException {
        try (FuseMount lost = FuseMount.mount("-r", group.path())) {
            Files.createFile(lost.at("/v1/data/before"));
            NodeId node = new NodeId(hostName(), Optional.empty());
            CephLab.daemon("sig", "STOP", "mds");
            assertThrows(
                    DriverException.DeadlinePassed.class,
                    () -> fileSystems.sessions().fence(volume, node));
            CephLab.daemon("sig", "CONT", "mds");
            Files.createFile(lost.at("/v1/data/after"));
        }
    }

    /// A thief on a node has a volume's key and its own client, which reports a megabyte of metadata.
    @Test
    void aClientWithTheVolumesKeyIsEndedWhateverItSaysOfItself() throws IOException {
        String identity = "siphon." + CephLab.fileSystem() + "." + volume.group() + ".v1";
        Path keyring = Files.createTempFile("keyring", "");
        Path conf = Files.createTempFile("conf", "");
        Files.writeString(
                keyring,
                CephLab.keyring(
                        connection,
                        "client." + identity,
                        "allow rw fsname=" + CephLab.fileSystem() + " path=" + group.path()));
        Files.writeString(
                conf,
                Files.readString(Path.of(System.getenv("CEPH_CONF"))) + "\n[client]\nclient_metadata = "
                        + "volume_id=none,root=" + group.path() + "/none,entity_id=admin,x=" + "x".repeat(1 << 20)
                        + "\n");
        NodeId node = new NodeId("another", Optional.ofNullable(System.getenv("LAB_ADDRESS")));
        try (FuseMount liar = FuseMount.mount(
                "--conf", conf.toString(), "--keyring", keyring.toString(), "--id", identity, "-r", group.path())) {
            Files.createFile(liar.at("/v1/data/before"));
            assertEquals(
                    1,
                    fileSystems
                            .clientSessions()
                            .of("lab", CephLab.fileSystem(), identity)
                            .size());
            assertEquals(0, fileSystems.sessions().fence(group.volume("v2"), node), "of another volume");
            assertEquals(1, fileSystems.sessions().fence(volume, node));
            assertThrows(IOException.class, () -> Files.createFile(liar.at("/v1/data/after")));
        } finally {
            Files.delete(keyring);
            Files.delete(conf);
        }
    }

    private static String hostName() throws IOException {
        return Files.readString(Path.of("/proc/sys/kernel/hostname")).strip();
    }
}
