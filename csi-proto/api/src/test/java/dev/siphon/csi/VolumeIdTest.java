package dev.siphon.csi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class VolumeIdTest {
    private static final String LONGEST_PROVISIONED =
            "s1:" + "c".repeat(20) + ":" + "F".repeat(24) + ":" + "g".repeat(24) + ":" + "v".repeat(24);

    @Test
    void aProvisionedIdReadsBackAsItWasWritten() {
        VolumeId id = new VolumeId.Provisioned("lab", "cephfs", "a1b2", "v3c4");
        assertEquals("s1:lab:cephfs:a1b2:v3c4", id.toString());
        assertEquals(id, VolumeId.parse(id.toString()));
    }

    @Test
    void aStaticIdReadsBackAsItWasWritten() {
        VolumeId id = new VolumeId.Static("lab", "cephfs", "/home/a b/ü:@");
        assertEquals("static:lab:cephfs:/home/a b/ü:@", id.toString());
        assertEquals(id, VolumeId.parse(id.toString()));
    }

    @Test
    void theLongestProvisionedIdFitsWithASnapshotName() {
        assertEquals(
                Optional.of(LONGEST_PROVISIONED),
                VolumeId.tryParse(LONGEST_PROVISIONED).map(VolumeId::toString));
        assertTrue(LONGEST_PROVISIONED.length() + 1 + 24 <= VolumeId.MAX_BYTES);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            quoteCharacter = '`',
            value = {
                "empty, ``",
                "an id of another driver, 0001-0009-rook-ceph-0000000000000001",
                "an id of a later version, s2:lab:cephfs:g:v",
                "a part is missing, s1:lab:cephfs:g",
                "a part too many, s1:lab:cephfs:g:v:w",
                "an empty part, s1:lab:cephfs::v",
                "capitals in the cluster, s1:Lab:cephfs:g:v",
                "a slash, s1:lab:cephfs:g:a/b",
                "dots alone, s1:lab:cephfs:g:..",
                "a snapshot id, s1:lab:cephfs:g:v@s",
                "underscore in the group, s1:lab:cephfs:a_b:v",
                "blanks around, ` s1:lab:cephfs:g:v`",
                "a line after it, `s1:lab:cephfs:g:v\n`",
                "a relative path, static:lab:cephfs:home",
                "the root, static:lab:cephfs:/",
                "a path upwards, static:lab:cephfs:/home/../etc",
                "a path that ends in a slash, static:lab:cephfs:/home/",
                "a path into snapshots, static:lab:cephfs:/home/.snap/s",
                "a control character in the path, `static:lab:cephfs:/a\u0001`",
                "NUL in the path, `static:lab:cephfs:/a\u0000b`",
                "a dataset without digest, dataset:lab:cephfs:/data",
                "a dataset with half a digest, dataset:lab:cephfs:0123456789abcdef0123:/data",
                "a dataset with half a claim, dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:0123:/data",
                "a dataset with a path upwards, dataset:lab:cephfs:0123456789abcdef0123456789abcdef01234567:/a/../b"
            })
    void whatNoVersionCanHaveMadeIsRefused(String what, String text) {
        assertEquals(Optional.empty(), VolumeId.tryParse(text), what);
        assertThrows(DriverException.InvalidRequest.class, () -> VolumeId.parse(text));
    }

    @Test
    void aDatasetIsKnownByItsDigestAndItsPlace() {
        VolumeId id =
                new VolumeId.DatasetVolume("lab", "cephfs", "0123456789".repeat(4), Optional.empty(), "/datasets/a b");
        assertEquals("dataset:lab:cephfs:" + "0123456789".repeat(4) + ":/datasets/a b", id.toString());
        assertEquals(id, VolumeId.parse(id.toString()));
    }

    @Test
    void theVolumesOfADatasetAreToldApartByTheirClaims() {
        VolumeId.DatasetVolume dataset =
                new VolumeId.DatasetVolume("lab", "cephfs", "0123456789".repeat(4), Optional.empty(), "/datasets/a:b");
        VolumeId.DatasetVolume mine = dataset.forUse("0123456789av");
        assertEquals("dataset:lab:cephfs:" + "0123456789".repeat(4) + ":0123456789av:/datasets/a:b", mine.toString());
        assertEquals(mine, VolumeId.parse(mine.toString()));
        assertEquals(dataset, mine.withoutClaim());
        assertThrows(DriverException.InvalidRequest.class, () -> dataset.forUse("0123456789aw"));
    }

    @Test
    void anIdOfMoreThan128BytesIsRefused() {
        String fits = "static:lab:cephfs:/" + "x".repeat(128 - 19);
        assertTrue(VolumeId.tryParse(fits).isPresent());
        assertEquals(Optional.empty(), VolumeId.tryParse(fits + "x"));
        assertEquals(Optional.empty(), VolumeId.tryParse("static:lab:cephfs:/" + "ü".repeat(60)));
    }

    @Test
    void noStaticIdCanBeMadeThatCouldNotBeReadBack() {
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> new VolumeId.Static("lab", "cephfs", "/" + "x".repeat(VolumeId.MAX_BYTES)));
    }

    @Test
    void theMessageShowsTheIdAndTheFormsThatAreKnown() {
        String message = assertThrows(DriverException.InvalidRequest.class, () -> VolumeId.parse("x\u0007y"))
                .getMessage();
        assertEquals(
                "volume_id \"x\\u0007y\" does not belong to this driver: expected s1:CLUSTER:FS:GROUP:SUBVOLUME,"
                        + " static:CLUSTER:FS:/PATH or dataset:CLUSTER:FS:DIGEST:/PATH of at most 128 bytes",
                message);
    }

    @Test
    void whatAnotherVersionMadeIsNotTakenForGone() {
        for (String other : List.of("s2:lab:fs:a1:v1", "s2:lab:fs:a1:v1@s1", "s2g:lab:fs:g1", "s10:anything", "s2:")) {
            var refused =
                    assertThrows(DriverException.InUse.class, () -> VolumeId.checkFormat("volume_id", other), other);
            assertTrue(
                    String.valueOf(refused.getMessage()).contains("this version knows only format s1"),
                    refused.getMessage());
        }
        for (String fine :
                List.of("s1:lab:fs:a1:v1", "s1g:lab:fs:g1", "static:lab:fs:/s2:a", "s02:a", "s:", "s2", "")) {
            VolumeId.checkFormat("volume_id", fine);
        }
    }
}
