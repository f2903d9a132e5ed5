package dev.siphon.node.fuse;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FuseStartTest {
    @ParameterizedTest
    @CsvSource({
        "--client_mountpoint=/volumes/alice, account alice",
        "--client_mountpoint=/volumes/alice/shared/of-1, account alice",
        "--client_mountpoint=/volumes/_nogroup/old, mount tag",
        "--client_mountpoint=/volumes, mount tag",
        "--client_mountpoint=/, mount tag",
        "--client_mountpoint=/volumesque/alice, mount tag",
        "--client_mountpoint=/datasets/faces, mount tag",
        "/dev/loop7, mount tag",
    })
    void theOwnerIsTheAccountWhoseDirectoryIsMounted(String argument, String owner) {
        FuseStart start = new FuseStart(
                FuseProgram.CEPH_FUSE,
                "tag",
                Path.of("/var/lib/siphon/x"),
                List.of("-f", argument, "--client_fs=cephfs"),
                Optional.empty());
        assertEquals(owner, start.owner());
    }
}
