package dev.siphon.node.ceph;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.mount.MountedVolume;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/// Identifies a mount in the source field of the mount table, if the client allows a free source:
/// `siphon!VOLUME!MONITORS!INSTANCE`, each part percent-encoded.
///
/// @param instance distinguishes the clients of one volume
public record MountTag(VolumeId volume, Monitors monitors, String instance) {
    private static final String PREFIX = "siphon";
    private static final String SEPARATOR = "!";
    private static final int PARTS = 4;

    static MountTag of(VolumeId volume, Monitors monitors) {
        return new MountTag(volume, monitors, UUID.randomUUID().toString());
    }

    /// Parses the source field of a mount; empty if Siphon did not write it.
    public static Optional<MountTag> parse(String source) {
        List<String> parts = List.of(source.split(SEPARATOR, -1));
        if (parts.size() != PARTS || !parts.getFirst().equals(PREFIX)) {
            return Optional.empty();
        }
        try {
            Monitors monitors = Monitors.parse(decode(parts.get(2)));
            return VolumeId.tryParse(decode(parts.get(1))).map(volume -> new MountTag(volume, monitors, parts.get(3)));
        } catch (IllegalArgumentException | DriverException.InvalidRequest _) {
            return Optional.empty(); // another program's, with the same prefix
        }
    }

    MountedVolume describe() {
        return new MountedVolume.Named(volume, monitors);
    }

    private static String decode(String part) {
        return URLDecoder.decode(part, StandardCharsets.UTF_8);
    }

    private static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    /// Contains no comma, blank or backslash, so it is safe in a mount option.
    @Override
    public String toString() {
        return String.join(SEPARATOR, PREFIX, encode(volume.toString()), encode(monitors.toString()), instance);
    }
}
