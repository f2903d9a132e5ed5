package dev.siphon.controller.check;

import dev.siphon.controller.ceph.ClusterStatus;
import dev.siphon.controller.ceph.ClusterStatus.FileSystem;
import dev.siphon.controller.ceph.rados.ClusterAccess;
import dev.siphon.controller.check.ControllerCaps.Feature;
import dev.siphon.controller.key.CephCiphers;
import dev.siphon.controller.key.KeyTypeChoice;
import dev.siphon.controller.key.KeyTypes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.Monitors;
import dev.siphon.csi.check.CheckOutcome;
import dev.siphon.csi.check.Checklist;
import dev.siphon.csi.check.MonitorCheck;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// Checks a cluster: what answers, what runs there, and the caps of the controller's identity.
///
/// @param keyTypes decides the type of new keys
/// @param wanted the file systems for volumes; empty for all
/// @param uses what the identity is for
public record ClusterChecks(ClusterStatus state, KeyTypes keyTypes, List<String> wanted, List<Feature> uses) {
    private static final String AES = "aes";
    private static final String AES256K = "aes256k";

    /// What it means that a cluster accepts `aes` keys.
    private static final String FORGED = "whoever has any key of such a cluster can forge the credentials of others on"
            + " its network (CVE-2025-30156)";

    public ClusterChecks {
        wanted = List.copyOf(wanted);
        uses = List.copyOf(uses);
    }

    /// Checks one cluster.
    ///
    /// @return those of its file systems that are wanted; empty if the login fails
    public Optional<List<String>> run(Checklist list, String cluster) {
        return new OfOne(list, cluster).look();
    }

    /// The checks of one cluster.
    private final class OfOne {
        private final Checklist list;
        private final String cluster;
        private final ClusterAccess access;

        OfOne(Checklist list, String cluster) {
            this.list = list;
            this.cluster = cluster;
            this.access = state.access(cluster);
        }

        Optional<List<String>> look() {
            if (access.monitors().isEmpty()) {
                list.note(
                        what("monitors"),
                        new CheckOutcome.Skipped("none is known: Rook's ConfigMap could not be read"));
                return Optional.empty();
            }
            MonitorCheck.run(list, what("monitors"), Monitors.parse(access.monHost()));
            var versions = list.check(
                    what("login"),
                    this::login,
                    () -> {
                        checkKeyring();
                        return state.versions(cluster, list.limit());
                    },
                    _ -> new CheckOutcome.Ok("as client." + access.user()));
            if (versions.isEmpty()) {
                list.note(what("everything else"), new CheckOutcome.Skipped("there is no login"));
                return Optional.empty();
            }
            list.note(what("release"), Releases.judge(versions.get()));
            List<String> names = lookAtFileSystems();
            lookAtKeys();
            var _ = list.check(
                    what("held capabilities"),
                    _ -> "`ceph config get mds mds_cap_revoke_eviction_timeout` as client.admin has to be more than 0",
                    () -> state.capRevokeEvictionSeconds(cluster, list.limit()),
                    ClusterChecks::judgeEviction);
            return Optional.of(names);
        }

        /// Checks the keyring first, because librados connects without a key and then waits.
        private void checkKeyring() {
            Path file = access.keyringFile();
            String section = "[client." + access.user() + "]";
            try (Stream<String> lines = Files.lines(file)) {
                if (lines.map(String::strip).noneMatch(section::equals)) {
                    throw new DriverException.NotFound(file + " has no " + section);
                }
            } catch (IOException | UncheckedIOException e) {
                throw new DriverException.NotFound(
                        file + " cannot be read: " + e.getClass().getSimpleName());
            }
        }

        private List<String> lookAtFileSystems() {
            List<FileSystem> found = list.check(
                            what("file systems"),
                            _ -> caps(wanted),
                            () -> state.fileSystems(cluster, list.limit()),
                            ClusterChecks.this::there)
                    .orElse(List.of());
            List<FileSystem> used = found.stream()
                    .filter(each -> wanted.isEmpty() || wanted.contains(each.name()))
                    .toList();
            used.forEach(this::lookAt);
            List<String> names = used.stream().map(FileSystem::name).toList();
            if (names.isEmpty()) {
                list.note(what("caps"), new CheckOutcome.Skipped("they depend on the file system"));
                return names;
            }
            var _ = list.check(
                    what("caps"),
                    _ -> caps(names),
                    () -> state.ownCaps(cluster, list.limit()),
                    caps -> judge(caps, names));
            return names;
        }

        private void lookAt(FileSystem fileSystem) {
            list.note(what("MDS of " + fileSystem.name()), served(fileSystem));
            String volumes = what("volumes of " + fileSystem.name());
            if (fileSystem.active().isEmpty()) {
                // the mgr would wait for the MDS, and block everybody else
                list.note(volumes, new CheckOutcome.Skipped("no MDS is active"));
                return;
            }
            var _ = list.check(
                    volumes,
                    refused -> refused instanceof DriverException.AccessDenied
                            ? caps(List.of(fileSystem.name()))
                            : "`ceph mgr module ls` has to show `volumes`; then `ceph mgr fail`",
                    () -> state.volumes(cluster, fileSystem.name(), list.limit()),
                    _ -> new CheckOutcome.Ok("the mgr's module answers"));
        }

        private void lookAtKeys() {
            if (!uses.contains(Feature.KEYS)) {
                list.note(what("key type"), new CheckOutcome.Skipped("this controller mints no keys"));
                return;
            }
            var _ = list.check(
                    what("key type"),
                    _ -> caps(wanted),
                    () -> state.ciphers(cluster, list.limit()),
                    ciphers -> ClusterChecks.judge(keyTypes.choose(ciphers), ciphers));
        }

        private String what(String part) {
            return cluster + ": " + part;
        }

        /// Returns the remedy for a failed login.
        private String login(DriverException refused) {
            if (refused instanceof DriverException.AccessDenied) {
                return caps(wanted);
            }
            String key = access.keyringFile() + " has to hold the key that `ceph auth get client." + access.user()
                    + "` prints, and this user has to be able to read it";
            // Ceph's client may report a refusal as a timeout
            return isAboutTheKey(refused)
                    ? key
                    : "fix `monitors` first if they failed; `ceph -s` shows whether the mons have a quorum; " + key;
        }

        private CheckOutcome judge(Optional<Map<String, String>> caps, List<String> fileSystems) {
            if (caps.isEmpty() && uses.contains(Feature.KEYS)) {
                return new CheckOutcome.Failed(
                        "client." + access.user() + " may not even see its own caps, so it cannot make keys",
                        caps(fileSystems));
            }
            if (caps.isEmpty()) {
                return new CheckOutcome.Skipped("client." + access.user() + " may not see its own caps");
            }
            List<String> missing = new ControllerCaps(fileSystems, uses).missing(caps.get());
            return missing.isEmpty()
                    ? new CheckOutcome.Ok("all that `siphon ceph-caps` prints" + sessions(fileSystems, caps.get()))
                    : new CheckOutcome.Failed("missing: " + String.join(", ", missing), caps(fileSystems));
        }

        private String caps(List<String> fileSystems) {
            return "as client.admin, run what `siphon ceph-caps --change --user " + access.user() + " --fs "
                    + (fileSystems.isEmpty() ? "FS" : String.join(",", fileSystems)) + flags() + "` prints";
        }
    }

    /// Whether librados could not connect because of the key: EACCES for a wrong key, ENOENT for a keyring without
    /// that user.
    private static boolean isAboutTheKey(Throwable refused) {
        for (@Nullable Throwable cause = refused; cause != null; cause = cause.getCause()) {
            if (cause instanceof DriverException.AccessDenied || cause instanceof DriverException.NotFound) {
                return true;
            }
        }
        return false;
    }

    /// Returns whether the identity can evict the sessions of packers and of revoked keys, in words. Only these
    /// need it.
    static String sessions(List<String> fileSystems, Map<String, String> caps) {
        return new ControllerCaps(fileSystems, List.of(Feature.KEY_COMMANDS))
                        .missing(caps)
                        .isEmpty()
                ? "; ends sessions of packers and of revoked keys"
                : "; ends no sessions: a packer's client may write to its mount for up to an hour, see --key-commands";
    }

    private String flags() {
        return (uses.contains(Feature.KEYS) ? "" : " --no-keys")
                + (uses.contains(Feature.ATTACH) ? " --attach" : "")
                + (uses.contains(Feature.KEY_COMMANDS) ? " --key-commands" : "");
    }

    /// Checks that the file systems exist.
    private CheckOutcome there(List<FileSystem> found) {
        List<String> names = found.stream().map(FileSystem::name).toList();
        if (names.isEmpty()) {
            return new CheckOutcome.Failed("there is none", "`ceph fs volume create NAME` makes one");
        }
        List<String> missing =
                wanted.stream().filter(name -> !names.contains(name)).toList();
        return missing.isEmpty()
                ? new CheckOutcome.Ok(String.join(", ", names))
                : new CheckOutcome.Failed(
                        "no " + String.join(", ", missing) + " among " + String.join(", ", names),
                        "--fs has to name file systems that `ceph fs ls` shows");
    }

    private static CheckOutcome served(FileSystem fileSystem) {
        return fileSystem.active().isEmpty()
                ? new CheckOutcome.Failed(
                        "none is active", "`ceph fs status " + fileSystem.name() + "`; start an MDS, or a standby")
                : new CheckOutcome.Ok("active: " + String.join(", ", fileSystem.active()));
    }

    /// Checks that a client of one account that returns no capability cannot block the others forever.
    static CheckOutcome judgeEviction(double seconds) {
        return seconds > 0
                ? new CheckOutcome.Ok(
                        "clients that do not give them back are evicted after " + Math.round(seconds) + " s")
                : new CheckOutcome.Failed(
                        "a client that does not give them back blocks the mgr, and so all accounts, forever",
                        "`ceph config set mds mds_cap_revoke_eviction_timeout 300`");
    }

    /// Checks that the cluster allows keys of that type, and says what the type means. The nodes check whether their
    /// kernels can use it.
    static CheckOutcome judge(KeyTypeChoice choice, CephCiphers ciphers) {
        String type = choice.requested().orElse(ciphers.preferred());
        String why = choice.reason().isEmpty() ? "" : "; auto chose " + type + ": " + choice.reason();
        if (!ciphers.allowed().contains(type)) {
            return new CheckOutcome.Failed(
                    "the cluster allows no " + type + " keys, only "
                            + String.join(
                                    ", ", ciphers.allowed().stream().sorted().toList()),
                    "leave --key-type out, or `ceph mon set auth_allowed_ciphers` with " + type
                            + " (docs/explanation/security.md says what that costs)");
        }
        if (type.equals(AES)) {
            return new CheckOutcome.Warned(
                    "aes: every kernel's client can use them, but " + FORGED + why,
                    ciphers.allowed().contains(AES256K)
                            ? "--key-type=aes256k; nodes where `siphon check node --key-type=aes256k` warns then use"
                                    + " ceph-fuse"
                            : "update Ceph to 19.2.6 or 20.2.4, which have aes256k keys");
        }
        return new CheckOutcome.Ok(type + ": nodes whose kernel cannot use them take ceph-fuse, see `siphon check node"
                + " --key-type=" + type + "`"
                + (ciphers.allowed().contains(AES) ? "; the cluster allows aes too, and " + FORGED : "") + why);
    }
}
