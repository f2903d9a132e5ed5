package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Namespaces;
import dev.siphon.csi.DriverException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The PVC that a volume is for, as the provisioner says it with `--extra-create-metadata`.
///
/// @param namespace where it is; never empty
/// @param name its name; empty if the provisioner does not say
/// @param volume the name that its PersistentVolume is to have; empty if the provisioner does not say
public record ClaimRef(String namespace, Optional<String> name, Optional<String> volume) {
    /// The annotation of a PVC that names the dataset which it is to show.
    public static final String DATASET = "siphon.dev/dataset";

    /// The parameter of a class that names it for all PVCs.
    public static final String DATASET_PARAMETER = "dataset";

    /// The provisioner ends the name of a PersistentVolume with the uid of its PVC, unless it is told to shorten
    /// that (`--volume-name-uuid-length`).
    private static final Pattern WITH_UID =
            Pattern.compile(".*([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})");

    /// What is written at this PVC, in one round trip to the API server; empty if it is not known which one it
    /// is.
    ///
    /// @throws DriverException.NotFound (NOT_FOUND) if it is gone, or is another one of that name by now
    /// @throws DriverException.BackendUnavailable (UNAVAILABLE) if the API server does not answer
    public Optional<Map<String, String>> annotations(Namespaces kubernetes) {
        return name.map(known -> {
            Namespaces.Claim found = kubernetes
                    .claim(namespace, known)
                    .orElseThrow(() -> new DriverException.NotFound(
                            "PVC " + namespace + "/" + known + " is gone, so nothing is made for it"));
            if (!canHave(found.uid())) {
                throw new DriverException.NotFound("PVC " + namespace + "/" + known + " is another one by now (uid "
                        + found.uid() + "), so nothing is made for the one before it");
            }
            return found.annotations();
        });
    }

    /// Whether the PVC with this uid can be meant: false if the volume's name holds another one's.
    private boolean canHave(String uid) {
        Matcher named = WITH_UID.matcher(volume.orElse(""));
        return !named.matches() || named.group(1).equals(uid);
    }
}
