package dev.siphon.controller.key;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.VolumeSecret;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Stores keys as files of one directory, for orchestrators without Secrets. `VOLUME_ID.json` has mode 0600 and
/// holds `userID`, `userKey` and `volumeID`, as NodeStageVolume takes them. A slash in the id becomes `%2F` in
/// the name. Files are replaced atomically.
///
/// File system errors become [DriverException.BackendUnavailable] (UNAVAILABLE), and the message names the file.
public final class FileKeyStore implements KeyStore, DatasetKeyStore {
    private static final String SUFFIX = ".json";

    private final Path folder;

    /// @param folder an existing directory that only its owner may enter
    /// @throws IllegalArgumentException if it is missing or open to others
    public FileKeyStore(Path folder) {
        this.folder = folder;
        try {
            Set<?> open = Files.getPosixFilePermissions(folder);
            if (!Files.isDirectory(folder)
                    || !PosixFilePermissions.fromString("rwx------").containsAll(open)) {
                throw new IllegalArgumentException(folder + " must be a directory of mode 0700: it holds keys");
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("the directory for keys cannot be used: " + e, e);
        }
    }

    @Override
    public void put(VolumeId.DatasetVolume volume, String name, Optional<VolumeKey> key) {
        write(volume, key.orElseThrow());
    }

    @Override
    public boolean hasAny(VolumeId.DatasetVolume dataset) {
        return !users(dataset).isEmpty();
    }

    @Override
    public List<String> users(VolumeId.DatasetVolume dataset) {
        return shown(true).stream()
                .filter(volume -> volume.withoutClaim().equals(dataset))
                .map(volume -> "volume " + volume)
                .toList();
    }

    @Override
    public List<VolumeId.DatasetVolume> shown(boolean withKey) {
        if (!withKey) {
            return List.of(); // without Kubernetes, nodes cannot request keys
        }
        return ids().stream()
                .flatMap(name -> VolumeId.DatasetVolume.tryParse(name.replace("%2F", "/")).stream())
                .filter(volume -> volume.claim().isPresent())
                .toList();
    }

    @Override
    public void replace(VolumeId.DatasetVolume volume, Optional<VolumeKey> key) {
        if (Files.exists(file(volume))) {
            write(volume, key.orElseThrow());
        }
    }

    @Override
    public void put(VolumeId.Provisioned volume, VolumeKey key) {
        write(volume, key);
    }

    private void write(VolumeId volume, VolumeKey key) {
        JsonObject json = new JsonObject();
        json.addProperty(VolumeSecret.USER_ID, key.userId());
        json.addProperty(VolumeSecret.USER_KEY, key.secret());
        json.addProperty(VolumeSecret.VOLUME_ID, volume.toString());
        Path file = file(volume);
        try {
            SecretFile.replace(file, json + "\n");
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the key of volume " + volume + " cannot be kept: " + e);
        }
    }

    @Override
    public Optional<VolumeKey> find(VolumeId.Provisioned volume) {
        try {
            JsonObject json =
                    JsonParser.parseString(Files.readString(file(volume))).getAsJsonObject();
            Optional<String> secret = text(json, VolumeSecret.USER_KEY);
            return text(json, VolumeSecret.USER_ID).flatMap(id -> secret.map(key -> new VolumeKey(id, key)));
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the key of volume " + volume + " cannot be read: " + e);
        } catch (JsonParseException | IllegalStateException _) {
            // foreign or broken: a new key replaces it; the exception is dropped because it would quote the file
            return Optional.empty();
        }
    }

    @Override
    public Optional<Instant> since(VolumeId.Provisioned volume) {
        try {
            return Optional.of(Files.getLastModifiedTime(file(volume)).toInstant());
        } catch (NoSuchFileException _) {
            return Optional.empty();
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the key of volume " + volume + " cannot be read: " + e);
        }
    }

    private static Optional<String> text(JsonObject json, String name) {
        return Optional.ofNullable(json.get(name))
                .filter(JsonElement::isJsonPrimitive)
                .map(JsonElement::getAsString);
    }

    @Override
    public void remove(VolumeId.DatasetVolume volume) {
        forget(volume);
    }

    @Override
    public void remove(VolumeId.Provisioned volume) {
        forget(volume);
    }

    private void forget(VolumeId volume) {
        try {
            SecretFile.remove(file(volume));
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the key of volume " + volume + " cannot be removed: " + e);
        }
    }

    @Override
    public List<VolumeId.Provisioned> volumes() {
        return ids().stream()
                .flatMap(name -> VolumeId.tryParse(name).stream())
                .filter(VolumeId.Provisioned.class::isInstance)
                .map(VolumeId.Provisioned.class::cast)
                .toList();
    }

    /// Returns the ids from the file names, still encoded.
    private List<String> ids() {
        List<String> found = new ArrayList<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*" + SUFFIX)) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                found.add(name.substring(0, name.length() - SUFFIX.length()));
            }
        } catch (IOException e) {
            throw new DriverException.BackendUnavailable("the directory for keys cannot be read: " + e);
        }
        return found;
    }

    private Path file(VolumeId volume) {
        return folder.resolve(volume.toString().replace("/", "%2F") + SUFFIX);
    }
}
