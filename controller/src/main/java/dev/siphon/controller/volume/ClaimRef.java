package dev.siphon.controller.volume;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The PVC that a volume is for, as the provisioner says it with `--extra-create-metadata`.
///
/// @param namespace where it is; never empty
/// @param name its name; empty if the provisioner does not say
/// @param volume the name that its PersistentVolume is to have; empty if the provisioner does not say
public record ClaimRef(String namespace, Optional<String> name, Optional<String> volume) {
    /// The provisioner ends the name of a PersistentVolume with the uid of its PVC, unless it is told to shorten
    /// that (`--volume-name-uuid-length`).
    private static final Pattern WITH_UID =
            Pattern.compile(".*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})");

    /// Whether the PVC with this uid can be meant: false if the volume's name holds another one's.
    boolean canHave(String uid) {
        Matcher named = WITH_UID.matcher(volume.orElse(""));
        return !named.matches() || named.group(1).equals(uid);
    }
}
