package dev.siphon.node.grant;

import dev.siphon.csi.Grants;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.Optional;
import java.util.regex.Pattern;

/// Who may be shown a path of CephFS, by what lies there: volumes of accounts below `/volumes`, datasets below
/// `/datasets` and wherever else one is declared. What is neither is nobody's to check.
final class PathRules {
    static final String VOLUMES = "/volumes";

    /// Where Ceph keeps what is in no group (`src/pybind/mgr/volumes`).
    private static final String NO_GROUP = "_nogroup";

    /// What the groups of accounts are called; see Names in the controller.
    private static final Pattern ACCOUNT = Pattern.compile("a[0-9a-v]{20}");

    private PathRules() {}

    /// Why a volume may not show a path to a namespace; empty if it may. A dataset whose readers the namespace
    /// belongs to is not asked about.
    static Optional<String> refusal(VolumeId volume, String path, String namespace, Grants grants) {
        if (touches(path, VOLUMES)) {
            // what an account's own volume shows is the account's, whatever somebody has declared in it
            return ofAccount(volume, path, namespace, grants)
                    .or(() -> volume instanceof VolumeId.ByHand ? ofDatasets(volume, path, grants) : Optional.empty());
        }
        return ofDatasets(volume, path, grants);
    }

    /// Nobody is shown what may be a dataset of which nodes are not told.
    private static Optional<String> unknown(VolumeId volume, String path, Grants grants) {
        return volume instanceof VolumeId.DatasetVolume || !grants.partial().contains(Grants.Part.PLACES)
                ? Optional.empty()
                : Optional.of("volume " + volume + " shows " + QuotedText.of(path) + ", and nodes do not know where all"
                        + " datasets lie: the ConfigMap siphon-grants is full; delete Datasets that nobody needs");
    }

    private static Optional<String> ofDatasets(VolumeId volume, String path, Grants grants) {
        boolean hidden = volume instanceof VolumeId.DatasetVolume
                ? isWithin(Dataset.DIRECTORY, path) || Packer.isPlaceOfImage(path)
                : touches(path, Dataset.DIRECTORY);
        Optional<String> dataset = hidden ? Optional.of(Dataset.DIRECTORY) : declared(volume, path, grants);
        return dataset.map(
                        there -> "volume " + volume + " shows " + QuotedText.of(path) + ", and datasets lie at " + there
                                + ": each is shown to its readers alone, by a volume whose id begins with `dataset:` and has its"
                                + " digest and its path")
                .or(() -> unknown(volume, path, grants));
    }

    /// The path of a dataset that is declared at, above or below another path.
    private static Optional<String> declared(VolumeId volume, String path, Grants grants) {
        return grants.datasets().values().stream()
                .map(Grants.Shared::volume)
                .filter(there -> there.cluster().equals(volume.cluster())
                        && there.fileSystem().equals(volume.fileSystem()))
                .map(VolumeId.DatasetVolume::path)
                .filter(there -> touches(path, there))
                .findFirst();
    }

    /// Whether one is the other, or is below or above it.
    private static boolean touches(String path, String other) {
        return isWithin(path, other) || isWithin(other, path);
    }

    /// Whether `path` is `top`, or below it.
    private static boolean isWithin(String path, String top) {
        return path.equals(top) || path.startsWith(top + "/");
    }

    private static Optional<String> ofAccount(VolumeId volume, String path, String namespace, Grants grants) {
        String[] parts = path.split("/", -1);
        String group = parts.length > 2 ? parts[2] : "_";
        Optional<Grants.Grant> grant = grants.of(new Grants.GroupKey(volume.cluster(), volume.fileSystem(), group));
        if (grant.isPresent()) {
            return grant.get().namespaces().contains(namespace)
                    ? Optional.empty()
                    : Optional.of("volume " + volume + " belongs to account "
                            + QuotedText.of(grant.get().account()) + ", and namespace " + QuotedText.of(namespace)
                            + " is none of its own: no claim of that namespace has a volume of this account");
        }
        if (ACCOUNT.matcher(group).matches()) {
            return Optional.of(
                    "volume " + volume + " belongs to an account that no namespace was granted, so namespace "
                            + QuotedText.of(namespace) + " may not use it; the provisioner has to run with"
                            + " --extra-create-metadata");
        }
        if (volume instanceof VolumeId.Provisioned || (group.startsWith("_") && !group.equals(NO_GROUP))) {
            return Optional.of("volume " + volume + " shows " + QuotedText.of(path)
                    + ", which is not of one account, so no namespace may use it");
        }
        return Optional.empty();
    }
}
