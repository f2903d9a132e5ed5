package dev.siphon.node.inline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.TargetPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class InlineVolumesTest {
    private static final String NAME = "csi-" + "0123456789abcdef".repeat(4);
    private static final VolumeId.DatasetVolume VOLUME = new VolumeId.DatasetVolume(
            "lab", "cephfs", "0123456789abcdef".repeat(3).substring(0, 40), Optional.of("0123456789ab"), "/datasets/x");

    @TempDir
    private Path folder = Path.of("");

    private InlineVolumes volumes() {
        return new InlineVolumes(folder.resolve("inline"));
    }

    private TargetPath target(String pod) throws IOException {
        Path parent = Files.createDirectories(folder.resolve(pod));
        return TargetPath.parse("target_path", parent.resolve("mount").toString());
    }

    @Test
    void aProcessThatStartsLaterKnowsThem() throws IOException {
        assertEquals(Optional.empty(), volumes().find(NAME));
        volumes().put(NAME, VOLUME, target("pod"));
        volumes().put(NAME, VOLUME, target("pod"));
        volumes().sweep();
        assertEquals(Optional.of(VOLUME), volumes().find(NAME));
        volumes().remove(NAME);
        volumes().remove(NAME);
        assertEquals(Optional.empty(), volumes().find(NAME));
    }

    @Test
    void thoseOfPodsThatAreGoneAreForgotten() throws IOException {
        TargetPath target = target("pod");
        volumes().put(NAME, VOLUME, target);
        Files.writeString(folder.resolve("inline/" + NAME + ".new"), "half");
        Files.delete(folder.resolve("pod"));
        volumes().sweep();
        try (Stream<Path> left = Files.list(folder.resolve("inline"))) {
            assertEquals(List.of(), left.toList());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "csi-", "csi-../../../etc/passwd", "dataset:lab:cephfs:00:/x", "csi-0123/4567"})
    void noOtherNameBecomesAFile(String name) throws IOException {
        TargetPath target = target("pod");
        assertThrows(DriverException.InvalidRequest.class, () -> volumes().put(name, VOLUME, target));
        assertEquals(Optional.empty(), volumes().find(name));
        volumes().remove(name);
    }
}
