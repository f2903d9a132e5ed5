package dev.siphon.controller.grant;

import dev.siphon.csi.Grants;
import dev.siphon.csi.Grants.Grant;
import dev.siphon.csi.Grants.GroupKey;
import dev.siphon.csi.Grants.Shared;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.dataset.Dataset;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/// Decides which new grants fit into the space that nodes read. Revocations always apply. Each account gets an
/// eighth of the space for its namespaces and the datasets named after it, so that no account blocks another. All
/// datasets together get three quarters, so that they cannot block volumes.
final class GrantsCapacity {
    private static final int ACCOUNTS = 8;
    private static final int QUARTERS = 4;

    /// Bytes around all entries, if there are groups and datasets.
    private static final long FRAME = bytes(new Grants(Map.of(), Map.of(), EnumSet.allOf(Grants.Part.class)));

    private static final long NONE = bytes(Grants.NONE);
    private static final long FRAME_OF_DATASETS = ",\"datasets\":{}".length();

    private final long most;
    private final String where;

    /// @param mostBytes size of the space
    /// @param where the place that nodes read, for messages
    GrantsCapacity(long mostBytes, String where) {
        this.most = mostBytes;
        this.where = where;
    }

    /// The grants that fit.
    ///
    /// @param leftOut why a grant is left out, by its group's place or its dataset's name
    /// @param used bytes by account
    /// @param ofDatasets bytes of all datasets
    /// @param bytes bytes of all grants
    record Fitting(Grants grants, Map<String, String> leftOut, Map<String, Long> used, long ofDatasets, long bytes) {}

    /// Returns the limit of all grants, in bytes.
    long most() {
        return most;
    }

    /// Returns the limit of all datasets, in bytes.
    long ofDatasets() {
        return most / QUARTERS * (QUARTERS - 1);
    }

    /// Returns the limit of one account, in bytes.
    long ofAccount() {
        return most / ACCOUNTS;
    }

    /// Returns as much of `wanted` as fits.
    ///
    /// @param before the published grants
    Fitting fit(Grants before, Grants wanted) {
        Grants kept = kept(before, wanted);
        Sum sum = new Sum();
        kept.groups().forEach((place, grant) -> sum.add(grant.account(), bytes(place, grant)));
        kept.datasets().forEach((name, shared) -> sum.addDataset(name, bytes(name, shared)));
        Map<String, String> leftOut = new TreeMap<>();
        Map<GroupKey, Grant> groups = new TreeMap<>(kept.groups());
        wanted.groups().forEach((place, grant) -> {
            long more = bytes(place, grant)
                    - kept.of(place).map(had -> bytes(place, had)).orElse(0L);
            Optional<String> full = more > 0 ? full(grant.account(), more, sum) : Optional.empty();
            full.ifPresentOrElse(why -> leftOut.put(place.toString(), why), () -> {
                groups.put(place, grant);
                sum.add(grant.account(), more);
            });
        });
        Map<String, Shared> datasets = new TreeMap<>(kept.datasets());
        wanted.datasets().forEach((name, shared) -> {
            long more = bytes(name, shared)
                    - kept.dataset(name).map(had -> bytes(name, had)).orElse(0L);
            Optional<String> full = more > 0 ? fullOfDatasets(name, more, sum) : Optional.empty();
            full.ifPresentOrElse(why -> leftOut.put(name, why), () -> {
                datasets.put(name, shared);
                sum.addDataset(name, more);
            });
        });
        EnumSet<Grants.Part> partial = EnumSet.noneOf(Grants.Part.class);
        leftOut.keySet().forEach(what -> {
            Optional<Shared> dataset = wanted.dataset(what);
            partial.add(dataset.isPresent() ? Grants.Part.DATASETS : Grants.Part.GROUPS);
            // nodes hide the datasets' directory anyway, whether they know this dataset or not
            dataset.filter(shared -> !datasets.containsKey(what) && !isInDirectory(shared.volume()))
                    .ifPresent(_ -> partial.add(Grants.Part.PLACES));
        });
        return new Fitting(new Grants(groups, datasets, partial), leftOut, sum.accounts, sum.datasets, sum.all);
    }

    private static boolean isInDirectory(VolumeId.DatasetVolume volume) {
        return volume.path().startsWith(Dataset.DIRECTORY + "/");
    }

    /// Bytes in use.
    private static final class Sum {
        private final Map<String, Long> accounts = new HashMap<>();
        private long all = FRAME + FRAME_OF_DATASETS;
        private long datasets;

        void add(String account, long bytes) {
            all += bytes;
            accounts.merge(account, bytes, Long::sum);
        }

        void addDataset(String name, long bytes) {
            owner(name).ifPresentOrElse(account -> add(account, bytes), () -> all += bytes);
            datasets += bytes;
        }
    }

    private Optional<String> fullOfDatasets(String name, long more, Sum sum) {
        if (sum.datasets + more > ofDatasets()) {
            return Optional.of("datasets fill their share of " + where + ", three quarters of " + most
                    + " bytes: delete Datasets that nobody needs");
        }
        return owner(name).map(account -> full(account, more, sum)).orElseGet(() -> full(more, sum));
    }

    private Optional<String> full(String account, long more, Sum sum) {
        if (sum.accounts.getOrDefault(account, 0L) + more > ofAccount()) {
            return Optional.of("account " + account + " fills its share of " + where + ", " + ofAccount() + " of "
                    + most + " bytes: delete its datasets, or namespaces with its volumes, that nobody needs");
        }
        return full(more, sum);
    }

    private Optional<String> full(long more, Sum sum) {
        if (sum.all + more > most) {
            return Optional.of(where + " is full (" + most
                    + " bytes): delete datasets and namespaces that nobody needs, see docs/reference/objects.md");
        }
        return Optional.empty();
    }

    /// Returns the account of a dataset, also by its former name, see [NamespaceGrants#formerName].
    private static Optional<String> owner(String dataset) {
        return Dataset.account(dataset.replaceFirst("@.*", ""));
    }

    /// Returns the grants that are both published and still wanted.
    private static Grants kept(Grants before, Grants wanted) {
        Map<GroupKey, Grant> groups = new TreeMap<>();
        wanted.groups()
                .forEach((place, grant) -> before.of(place).ifPresent(had -> {
                    NavigableSet<String> both = new TreeSet<>(had.namespaces());
                    both.retainAll(grant.namespaces());
                    groups.put(place, new Grant(grant.account(), both));
                }));
        Map<String, Shared> datasets = new TreeMap<>();
        wanted.datasets()
                .forEach((name, shared) -> before.dataset(name)
                        .filter(had -> had.volume().equals(shared.volume()))
                        .ifPresent(had -> datasets.put(name, both(had, shared))));
        return new Grants(groups, datasets);
    }

    private static Shared both(Shared had, Shared wanted) {
        NavigableSet<String> namespaces = new TreeSet<>(had.namespaces());
        namespaces.retainAll(wanted.namespaces());
        return new Shared(wanted.volume(), had.everybody() && wanted.everybody(), namespaces);
    }

    private static long bytes(GroupKey place, Grant grant) {
        return bytes(new Grants(Map.of(place, grant), Map.of())) - NONE + 1;
    }

    private static long bytes(String name, Shared shared) {
        return bytes(new Grants(Map.of(), Map.of(name, shared))) - NONE - FRAME_OF_DATASETS + 1;
    }

    private static long bytes(Grants grants) {
        return grants.toJson().getBytes(StandardCharsets.UTF_8).length;
    }
}
