package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.FileOwner;
import dev.siphon.node.linux.MountTable;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// Probes whether a volume can be id-mapped, on a tmpfs of this machine's kernel. The modification time of the top
/// directory shows that the probe created and removed something.
class IdmappingIT {
    private static final Duration LIMIT = Duration.ofSeconds(10);
    private static final FileOwner ACCOUNT = new FileOwner(10_001, 10_501);
    private static final FileTime LONG_AGO = FileTime.from(Instant.ofEpochSecond(1));

    private final Workplace workplace = Workplace.create();
    private final Path staged = workplace.directory("staged");

    @BeforeEach
    void mount() {
        Programs.run("mount", "-t", "tmpfs", "tmpfs", staged.toString());
        Programs.run("chown", ACCOUNT.toString(), staged.toString());
    }

    @AfterEach
    void unmount() {
        workplace.close();
    }

    private void prove() throws IOException {
        Idmapping mapping = new Idmapping(
                VolumeId.parse("s1:lab:fs:g:v"),
                MountTable.read().at(staged.toString()).orElseThrow(),
                ACCOUNT,
                ACCOUNT);
        Files.setLastModifiedTime(staged, LONG_AGO);
        try (DirectoryHandle source = DirectoryHandle.open(staged.toString())) {
            mapping.prove(source, LIMIT);
        }
        assertNotEquals(LONG_AGO, Files.getLastModifiedTime(staged), "nothing was tried");
    }

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(staged)) {
            return files.map(file -> String.valueOf(file.getFileName())).toList();
        }
    }

    @Test
    void aDirectoryIsMadeAndNothingStays() throws IOException {
        prove();
        assertEquals(List.of(), names());
    }

    @Test
    void whatAKilledRunLeftIsTakenAway() throws IOException {
        Files.createDirectory(staged.resolve(".siphon-idmap"));
        prove();
        assertEquals(List.of(), names());
    }

    @Test
    void aProbeThatCannotBeRemovedKeepsNothingFromBeingTried() throws IOException {
        Files.createDirectories(staged.resolve(".siphon-idmap/kept"));
        prove();
        assertEquals(List.of(".siphon-idmap"), names());
    }

    @Test
    void aFileInItsPlaceKeepsNothingFromBeingTried() throws IOException {
        Files.createFile(staged.resolve(".siphon-idmap"));
        prove();
        assertEquals(List.of(".siphon-idmap"), names());
    }
}
