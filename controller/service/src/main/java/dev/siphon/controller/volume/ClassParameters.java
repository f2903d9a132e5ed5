package dev.siphon.controller.volume;

import dev.siphon.controller.volume.Owners.OwnerRule;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.ContainerUser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.MountOptions;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SpellingSuggestion;
import dev.siphon.csi.VolumeContext.MounterChoice;
import dev.siphon.csi.VolumeId;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/// Parses the parameters of StorageClasses and VolumeAttributesClasses; all their names are in this file.
public final class ClassParameters {
    private static final String CLUSTER = "cluster";
    private static final String FS_NAME = "fsName";
    private static final String DATA_POOL = "dataPool";
    private static final String OWNER = "owner";
    private static final String UID = "uid";
    private static final String GID = "gid";
    private static final String MODE = "mode";
    private static final String QUOTA_FILES = "quotaFiles";
    private static final String MOUNTER = "mounter";
    private static final String SNAPSHOT_BACKED = "snapshotBacked";
    private static final String COPY_ACROSS_ACCOUNTS = "copyAcrossAccounts";
    private static final String KIND = "kind";
    private static final String ALLOWANCE = "allowance";
    private static final String OVERCOMMIT = "overcommit";

    private static final Set<String> KNOWN = Set.of(
            CLUSTER,
            FS_NAME,
            DATA_POOL,
            OWNER,
            UID,
            GID,
            MODE,
            QUOTA_FILES,
            MOUNTER,
            MountOptions.KEY,
            SNAPSHOT_BACKED,
            COPY_ACROSS_ACCOUNTS,
            KIND,
            ALLOWANCE,
            OVERCOMMIT,
            ClaimRef.DATASET_PARAMETER,
            ContainerUser.KEY);
    private static final Set<String> CHANGEABLE = Set.of(QUOTA_FILES, MODE);

    /// Prefix of what the provisioner adds with `--extra-create-metadata`: the requesting claim.
    private static final String FROM_KUBERNETES = "csi.storage.k8s.io/";

    /// A field of the class itself, which some snapshotters pass on as a parameter. Kubernetes acts on it.
    private static final String DELETION_POLICY = "deletionPolicy";

    private static final String NAMESPACE = FROM_KUBERNETES + "pvc/namespace";
    private static final String CLAIM = FROM_KUBERNETES + "pvc/name";
    private static final String VOLUME = FROM_KUBERNETES + "pv/name";

    private static final int MAX_MODE = 07777;
    private static final int PERMISSIONS = 0777;

    private ClassParameters() {}

    /// Parses a StorageClass, and the claim if the provisioner added it.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a parameter has an invalid value or is unknown;
    ///     the message names the nearest known one
    public static VolumeClass parse(Map<String, String> parameters) {
        refuseUnknown("parameters", parameters, KNOWN);
        return new VolumeClass(
                part(parameters, CLUSTER, VolumeId.Part.CLUSTER),
                part(parameters, FS_NAME, VolumeId.Part.FILE_SYSTEM),
                name(parameters, DATA_POOL),
                owner(parameters),
                id(parameters, UID),
                id(parameters, GID),
                mode(parameters),
                new MutableParameters(quotaFiles(parameters), OptionalInt.empty()),
                text(parameters, MOUNTER, MounterChoice::parse)
                        .map(MounterChoice::parse)
                        .orElse(MounterChoice.AUTO),
                mountOptions(parameters),
                flag(parameters, SNAPSHOT_BACKED),
                flag(parameters, COPY_ACROSS_ACCOUNTS).orElse(false),
                isHome(parameters),
                allowance(parameters),
                flag(parameters, OVERCOMMIT).orElse(false),
                claim(parameters),
                given(parameters, ClaimRef.DATASET_PARAMETER),
                Optional.ofNullable(parameters.get(ContainerUser.KEY)).map(ContainerUser::parse));
    }

    /// The key of a namespace annotation may contain a slash; the name of an account may not.
    private static Optional<OwnerRule> owner(Map<String, String> parameters) {
        return Optional.ofNullable(parameters.get(OWNER)).map(text -> {
            if (!OwnerRule.OfAnnotation.isMeant(text)) {
                checkName("parameter " + OWNER, text);
            }
            return OwnerRule.parse(text);
        });
    }

    private static Optional<ClaimRef> claim(Map<String, String> parameters) {
        return given(parameters, NAMESPACE)
                .map(namespace -> new ClaimRef(namespace, given(parameters, CLAIM), given(parameters, VOLUME)));
    }

    private static Optional<String> given(Map<String, String> parameters, String name) {
        return Optional.ofNullable(parameters.get(name)).filter(value -> !value.isEmpty());
    }

    private static OptionalLong allowance(Map<String, String> parameters) {
        if (!parameters.containsKey(ALLOWANCE)) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(ByteSize.bytes(parameters.get(ALLOWANCE)));
        } catch (IllegalArgumentException invalid) {
            throw new DriverException.InvalidRequest("parameter " + ALLOWANCE + ": " + invalid.getMessage());
        }
    }

    /// Parses a VolumeAttributesClass.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if a parameter is unknown, cannot be changed
    ///     later, or has an invalid value
    public static MutableParameters parseChangeable(Map<String, String> parameters) {
        refuseUnknown("mutable_parameters", parameters, CHANGEABLE);
        return new MutableParameters(quotaFiles(parameters), mode(parameters));
    }

    /// Returns the class of a volume that is backed by a snapshot of an account.
    public static VolumeClass ofSnapshot(String cluster, String fileSystem, String account) {
        return parse(Map.of(CLUSTER, cluster, FS_NAME, fileSystem, OWNER, account, SNAPSHOT_BACKED, "true"));
    }

    /// Checks a VolumeGroupSnapshotClass, which has no parameters of its own.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if there is a parameter that Kubernetes did not
    ///     add
    public static void checkGroupSnapshot(Map<String, String> parameters) {
        for (String name : new TreeSet<>(parameters.keySet())) {
            if (!name.startsWith(FROM_KUBERNETES) && !name.equals(DELETION_POLICY)) {
                throw new DriverException.InvalidRequest("parameters has an unknown name " + QuotedText.of(name)
                        + "; groups of snapshots have no parameters");
            }
        }
    }

    private static void refuseUnknown(String field, Map<String, String> parameters, Set<String> known) {
        for (String name : new TreeSet<>(parameters.keySet())) {
            if (!known.contains(name) && !name.startsWith(FROM_KUBERNETES)) {
                throw new DriverException.InvalidRequest(
                        field + " has an unknown name " + QuotedText.of(name) + "; the nearest known one is \""
                                + SpellingSuggestion.to(name, known) + "\"; known are " + new TreeSet<>(known));
            }
        }
    }

    private static boolean isHome(Map<String, String> parameters) {
        String home = "home";
        return text(parameters, KIND, value -> {
                    if (!value.equals(home) && !value.equals("volume")) {
                        throw new DriverException.InvalidRequest(
                                "parameter " + KIND + " " + QuotedText.of(value) + " must be volume or home");
                    }
                })
                .filter(home::equals)
                .isPresent();
    }

    private static Optional<String> text(Map<String, String> parameters, String name, Consumer<String> check) {
        Optional<String> value = Optional.ofNullable(parameters.get(name));
        value.ifPresent(check);
        return value;
    }

    private static Optional<String> name(Map<String, String> parameters, String name) {
        return text(parameters, name, value -> checkName("parameter " + name, value));
    }

    /// Refuses a value that cannot be the name of an account or pool.
    ///
    /// @param what names the field in the message
    static void checkName(String what, String value) {
        if (value.isEmpty()
                || value.length() > 128
                || value.codePoints()
                        .anyMatch(c -> Character.isISOControl(c) || Character.isWhitespace(c) || c == '/')) {
            throw new DriverException.InvalidRequest(what + " " + QuotedText.of(value)
                    + " is not a valid name: expected 1 to 128 characters,"
                    + " no blanks, slashes or control characters");
        }
    }

    private static Optional<String> part(Map<String, String> parameters, String name, VolumeId.Part part) {
        return text(parameters, name, value -> {
            if (!part.fits(value)) {
                throw new DriverException.InvalidRequest(
                        "parameter " + name + " " + QuotedText.of(value) + " must match " + part.form());
            }
        });
    }

    private static OptionalInt id(Map<String, String> parameters, String name) {
        return parameters.containsKey(name)
                ? OptionalInt.of((int) number(name, parameters.get(name), 10, ContainerUser.MAX_ID))
                : OptionalInt.empty();
    }

    private static OptionalInt mode(Map<String, String> parameters) {
        if (!parameters.containsKey(MODE)) {
            return OptionalInt.empty();
        }
        int mode = (int) number(MODE, parameters.get(MODE), 8, MAX_MODE);
        if ((mode & PERMISSIONS) == 0) {
            throw new DriverException.InvalidRequest("parameter " + MODE + " " + QuotedText.of(parameters.get(MODE))
                    + " would let nobody in: it must give somebody a permission");
        }
        return OptionalInt.of(mode);
    }

    private static OptionalLong quotaFiles(Map<String, String> parameters) {
        return parameters.containsKey(QUOTA_FILES)
                ? OptionalLong.of(number(QUOTA_FILES, parameters.get(QUOTA_FILES), 10, Long.MAX_VALUE))
                : OptionalLong.empty();
    }

    private static long number(String name, String value, int radix, long most) {
        try {
            long number = Long.parseLong(value, radix);
            if (number >= 0 && number <= most && !value.startsWith("+")) {
                return number;
            }
        } catch (NumberFormatException notANumber) {
            // falls through to the one error for every invalid value
        }
        throw new DriverException.InvalidRequest("parameter " + name + " " + QuotedText.of(value) + " must be "
                + (radix == 8 ? "an octal number" : "a number") + " from 0 to " + Long.toString(most, radix));
    }

    private static Optional<Boolean> flag(Map<String, String> parameters, String name) {
        return text(parameters, name, value -> {
                    if (!value.equals("true") && !value.equals("false")) {
                        throw new DriverException.InvalidRequest(
                                "parameter " + name + " " + QuotedText.of(value) + " must be true or false");
                    }
                })
                .map(Boolean::valueOf);
    }

    private static List<String> mountOptions(Map<String, String> parameters) {
        String value = parameters.getOrDefault(MountOptions.KEY, "");
        List<String> options = value.isEmpty() ? List.of() : List.of(value.split(",", -1));
        options.forEach(MountOptions::check);
        return options;
    }
}
