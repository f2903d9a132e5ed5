package dev.siphon.node.grant;

import dev.siphon.csi.Grants;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import dev.siphon.csi.dataset.Packer;
import java.util.Optional;
import java.util.regex.Pattern;

/// Decides who may see a path of CephFS, by what is there: volumes of accounts below `/volumes`, datasets below
/// `/datasets` and wherever one is declared. Other paths are not checked.
final class PathRules {
    static final String VOLUMES = "/volumes";

    /// The directory of Ceph for subvolumes without a group (`src/pybind/mgr/volumes`).
    private static final String NO_GROUP = "_nogroup";

    /// The names of accounts' groups, as the controller makes them.
    private static final Pattern ACCOUNT = Pattern.compile("a[0-9a-v]{20}");

    private PathRules() {}

    /// Returns why a volume may not show a path to a namespace; empty if it may. The caller has already allowed a
    /// dataset with the namespace among its readers.
    static Optional<String> refusal(VolumeId volume, String path, String namespace, Grants grants) {
        if (touches(path, VOLUMES)) {
            // an account's own volume is the account's, even if somebody declared a dataset in it
            return ofAccount(volume, path, namespace, grants)
                    .or(() ->
                            volume instanceof VolumeId.WithPath ? ofDatasets(volume, path, grants) : Optional.empty());
        }
        return ofDatasets(volume, path, grants);
    }

    /// Refuses a path that may be a dataset, while the nodes' list of datasets is incomplete.
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
                                + ": only its readers may see a dataset, through a volume whose id begins with"
                                + " `dataset:` and has its digest and its path")
                .or(() -> unknown(volume, path, grants));
    }

    /// Returns the path of a dataset that is declared at, above or below another path.
    private static Optional<String> declared(VolumeId volume, String path, Grants grants) {
        return grants.datasets().values().stream()
                .map(Grants.Shared::volume)
                .filter(there -> there.cluster().equals(volume.cluster())
                        && there.fileSystem().equals(volume.fileSystem()))
                .map(VolumeId.DatasetVolume::path)
                .filter(there -> touches(path, there))
                .findFirst();
    }

    /// Whether the paths are equal, or one is below the other.
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
                            + " was not granted it: no claim of that namespace has a volume of this account");
        }
        if (ACCOUNT.matcher(group).matches()) {
            return Optional.of(
                    "volume " + volume + " belongs to an account that no namespace was granted, so namespace "
                            + QuotedText.of(namespace) + " may not use it; run the provisioner with"
                            + " --extra-create-metadata");
        }
        if (volume instanceof VolumeId.Provisioned || (group.startsWith("_") && !group.equals(NO_GROUP))) {
            return Optional.of("volume " + volume + " shows " + QuotedText.of(path)
                    + ", which is not of one account, so no namespace may use it");
        }
        return Optional.empty();
    }
}
