package dev.siphon.node.inline;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.TargetPath;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which dataset each inline volume of this node shows. In files, of a folder of its own: the kubelet knows such
/// a volume only by a name that it made up, also after this process was started anew.
public final class InlineVolumes {
    private static final Logger LOG = LoggerFactory.getLogger(InlineVolumes.class);

    /// `makeVolumeHandle` in `pkg/volume/csi` of Kubernetes: a SHA-256.
    private static final Pattern NAME = Pattern.compile("csi-[0-9a-f]{64}");

    private static final String NEXT = ".new";

    private final Path folder;

    /// @param folder made when it is needed
    public InlineVolumes(Path folder) {
        this.folder = folder;
    }

    /// Checks a name that the kubelet made up.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is none
    public static void check(String name) {
        if (!NAME.matcher(name).matches()) {
            throw new DriverException.InvalidRequest("volume_id is not the name of an inline volume: expected " + NAME);
        }
    }

    /// From now on `name` is `volume`, to be seen at `target`. May be repeated.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be written down
    public void put(String name, VolumeId.DatasetVolume volume, TargetPath target) {
        check(name);
        try {
            Files.createDirectories(folder);
            Path next = folder.resolve(name + NEXT);
            Files.writeString(next, volume + "\n" + target.text() + "\n");
            Files.move(next, folder.resolve(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the state directory cannot be written: " + e, e);
        }
    }

    /// What `name` shows; empty if it is no inline volume of this node.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be read
    public Optional<VolumeId.DatasetVolume> find(String name) {
        if (!NAME.matcher(name).matches()) {
            return Optional.empty();
        }
        try {
            return Files.readAllLines(folder.resolve(name)).stream()
                    .findFirst()
                    .flatMap(VolumeId.DatasetVolume::tryParse);
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the state directory cannot be read: " + e, e);
        }
    }

    /// From now on `name` is nothing. May be repeated.
    ///
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if that cannot be written down
    public void remove(String name) {
        if (NAME.matcher(name).matches()) {
            try {
                Files.deleteIfExists(folder.resolve(name));
            } catch (IOException e) {
                throw new DriverException.BackendUnavailable("the state directory cannot be written: " + e, e);
            }
        }
    }

    /// Forgets the volumes of pods that are gone, whoever removed them without saying so, and what a killed run
    /// left.
    public void sweep() {
        try (Stream<Path> files = Files.isDirectory(folder) ? Files.list(folder) : Stream.empty()) {
            for (Path file : files.toList()) {
                if (!isOfPod(file)) {
                    Files.deleteIfExists(file);
                }
            }
        } catch (IOException e) {
            LOG.atWarn().addKeyValue("reason", e.toString()).log("the inline volumes cannot be looked through");
        }
    }

    /// Looks at the folder that the target path is in: the path itself may be a mount that hangs.
    private static boolean isOfPod(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        return !file.toString().endsWith(NEXT)
                && lines.size() == 2
                && lines.get(1).startsWith("/")
                && Optional.ofNullable(Path.of(lines.get(1)).getParent())
                        .filter(Files::isDirectory)
                        .isPresent();
    }
}
