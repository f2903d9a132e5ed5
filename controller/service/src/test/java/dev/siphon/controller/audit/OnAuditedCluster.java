package dev.siphon.controller.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.audit.Finding.Kind;
import dev.siphon.controller.ceph.FuseMount;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.controller.volume.Subvolumes.SubvolumeSpec;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// A cluster with one volume for each of two accounts. Each test creates a defect and leaves none.
@Timeout(300)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class OnAuditedCluster {
    static final String NAME_OF_NONE = "0123456789abcdefghij";

    AuditedCluster cluster;
    Subvolumes subvolumes;
    FuseMount admin;
    VolumeId.Provisioned volume;

    @BeforeAll
    void start(@TempDir Path folder) throws IOException {
        cluster = new AuditedCluster(folder);
        subvolumes = cluster.adapter.ports().subvolumes();
        admin = FuseMount.mount();
        volume = cluster.create("audited", "u1");
        VolumeId.Provisioned _ = cluster.create("audited", "u2");
    }

    @AfterEach
    void nothingIsLeftToFind() {
        assertEquals(List.of(), cluster.defects());
    }

    @AfterAll
    void end() throws IOException {
        for (String account : List.of("u1", "u2")) {
            SubvolumeGroup group = cluster.group(account);
            subvolumes
                    .list(group)
                    .orElse(List.of())
                    .forEach(name -> cluster.domain.volumes().delete(group.volume(name)));
        }
        admin.close();
        cluster.close();
    }

    final Path directory(VolumeId.Provisioned id) {
        return admin.at(SubvolumeGroup.pathOf(id));
    }

    final Path data(VolumeId.Provisioned id) {
        return admin.at(subvolumes.find(id).orElseThrow().dataPath().orElseThrow());
    }

    final Finding found(Kind kind) {
        List<Finding> defects = cluster.defects();
        assertEquals(List.of(kind), defects.stream().map(Finding::kind).toList(), defects::toString);
        return defects.getFirst();
    }

    final void assertFoundAndMended(Kind kind) {
        assertTrue(cluster.repairs().repair(found(kind).repair()), "mended");
        assertEquals(List.of(), cluster.defects());
    }

    final SubvolumeSpec spec(int mode) {
        int uid = cluster.firstUid;
        return new SubvolumeSpec(OptionalLong.of(AuditedCluster.SIZE), uid, uid, mode, Optional.empty());
    }

    /// Returns a subvolume whose name marks it as a clone.
    final VolumeId.Provisioned filled() {
        return cluster.group("u1").volume("c" + NAME_OF_NONE + "klm");
    }
}
