package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Namespaces;
import dev.siphon.csi.DriverException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The claim that a volume is for, as the provisioner names it with `--extra-create-metadata`.
///
/// @param namespace its namespace; never empty
/// @param name its name; empty if the provisioner does not send it
/// @param volume the name of its future PersistentVolume; empty if the provisioner does not send it
public record ClaimRef(String namespace, Optional<String> name, Optional<String> volume) {
    /// The claim's annotation that names the dataset to show.
    public static final String DATASET = "siphon.dev/dataset";

    /// The class's parameter that names the dataset for all claims.
    public static final String DATASET_PARAMETER = "dataset";

    /// The provisioner ends the name of a PersistentVolume with the uid of its claim, unless
    /// `--volume-name-uuid-length` shortens it.
    private static final Pattern WITH_UID =
            Pattern.compile(".*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})");

    /// Returns the claim's annotations, in one round trip to the API server; empty if the claim's name is unknown.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if the claim is gone, or another one has its name now
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not reply
    public Optional<Map<String, String>> annotations(Namespaces kubernetes) {
        return name.map(known -> {
            Namespaces.Claim found = kubernetes
                    .claim(namespace, known)
                    .orElseThrow(() -> new DriverException.NotFound(
                            "PVC " + namespace + "/" + known + " no longer exists, so nothing is created for it"));
            if (!canHave(found.uid())) {
                throw new DriverException.NotFound(
                        "PVC " + namespace + "/" + known + " was deleted and created again (uid " + found.uid()
                                + "), so nothing is created for the earlier one");
            }
            return found.annotations();
        });
    }

    /// Returns whether the claim can have this uid: false if the volume's name ends with another one.
    private boolean canHave(String uid) {
        Matcher named = WITH_UID.matcher(volume.orElse(""));
        return !named.matches() || named.group(1).equals(uid);
    }
}
