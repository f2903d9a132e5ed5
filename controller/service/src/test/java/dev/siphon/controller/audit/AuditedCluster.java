package dev.siphon.controller.audit;

import dev.siphon.controller.ceph.CephAdapter;
import dev.siphon.controller.ceph.CephLab;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.controller.key.FileKeyStore;
import dev.siphon.controller.key.VolumeKeys;
import dev.siphon.controller.volume.AccountAccess;
import dev.siphon.controller.volume.Callers;
import dev.siphon.controller.volume.CephNames;
import dev.siphon.controller.volume.ClassParameters;
import dev.siphon.controller.volume.ControllerDomain;
import dev.siphon.controller.volume.InMemoryDirectory;
import dev.siphon.controller.volume.Owners;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.VolumeRequest;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.VolumeId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/// A driver with keys and an auditor over the lab's cluster. It has its own accounts, so that leftovers of other
/// tests are no findings.
final class AuditedCluster implements AutoCloseable {
    static final long SIZE = 1 << 30;

    final CephAdapter adapter = CephLab.adapter();
    /// Distinguishes the accounts of each run.
    private final String run = UUID.randomUUID().toString();
    final int firstUid = ThreadLocalRandom.current().nextInt(100_000, 1_000_000_000);
    final FileKeyStore store;
    final VolumeKeys keys;
    final ControllerDomain domain;
    /// The volumes with a PersistentVolume.
    final Set<VolumeId.Provisioned> persistentVolumes = ConcurrentHashMap.newKeySet();
    final ConcurrentHashMap<String, Account> accounts = new ConcurrentHashMap<>();
    private final AccountDirectory directory = InMemoryDirectory.over(accounts);

    AuditedCluster(Path folder) throws IOException {
        store = new FileKeyStore(Files.createDirectory(
                folder.resolve("keys"),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"))));
        keys = new VolumeKeys(adapter.ports(), adapter.identities(), store, CephLab.PATIENT);
        domain = ControllerDomain.over(
                adapter.ports(),
                new Owners(directory, Optional.empty(), Optional.empty()),
                new Callers(keys, AccountAccess.NONE),
                CephLab.PATIENT);
        accounts.put("u1", new Account("u1", id("u1"), firstUid, firstUid, Set.of(), OptionalLong.empty()));
        accounts.put(
                "u2", new Account("u2", id("u2"), firstUid + 1, firstUid + 1, Set.of(), OptionalLong.of(100L << 30)));
    }

    private String id(String account) {
        return account + " of " + run;
    }

    SubvolumeGroup group(String account) {
        return new SubvolumeGroup("lab", CephLab.fileSystem(), CephNames.group(id(account)));
    }

    VolumeId.Provisioned create(String name, String owner) {
        return create(name, owner, false, Optional.empty());
    }

    VolumeId.Provisioned create(String name, String owner, boolean readOnly, Optional<ContentSource> source) {
        VolumeId.Provisioned made = (VolumeId.Provisioned) domain.volumes()
                .create(new VolumeRequest(
                        name,
                        new CapacityRange(SIZE, 0),
                        ClassParameters.parse(Map.of("owner", owner, "copyAcrossAccounts", "true")),
                        readOnly,
                        source))
                .id();
        CephLab.await(Duration.ofSeconds(20), () -> store.find(made).isPresent());
        persistentVolumes.add(made);
        return made;
    }

    /// Returns the findings about these accounts' volumes.
    List<Finding> audit(Duration filling) {
        return audit(filling, Duration.ofHours(1));
    }

    List<Finding> audit(Duration filling, Duration orphan) {
        Auditor auditor = new Auditor(
                adapter.ports().clusters(),
                adapter.survey(),
                adapter.identities(),
                kept(),
                new AccountChecks(directory),
                new GracePeriods(filling, orphan, Duration.ofHours(1), Duration.ZERO),
                _ -> {});
        List<String> ours = List.of(group("u1").name(), group("u2").name());
        return auditor.audit().stream()
                .filter(finding -> ours.stream().anyMatch((finding.object() + finding.why())::contains))
                .toList();
    }

    private Auditor.Kept kept() {
        return new Auditor.Kept(Optional.of(store), Optional.of(() -> persistentVolumes));
    }

    List<Finding> defects() {
        return audit(Duration.ZERO).stream()
                .filter(finding -> finding.kind().isDefect())
                .toList();
    }

    Repairs repairs() {
        return new Repairs(
                adapter.ports(),
                adapter.survey(),
                adapter.identities(),
                Optional.of(store),
                Optional.of(keys),
                new LeftoverDeletion(adapter.survey(), adapter.clientSessions(), kept(), domain.volumes()::delete));
    }

    @Override
    public void close() {
        keys.close();
        adapter.close();
    }
}
