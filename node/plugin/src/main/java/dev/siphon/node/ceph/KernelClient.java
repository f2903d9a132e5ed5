package dev.siphon.node.ceph;

import dev.siphon.node.linux.MountSyscalls;
import dev.siphon.node.mount.CephKey;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The capabilities of this node's kernel. The kernel is asked for them, since distributions bring them to kernels of
/// an earlier release. The release only decides what the kernel does not answer.
///
/// @param hasCeph whether it has the ceph file system, built in or as a module
/// @param rejected the kinds of keys that it cannot use, each with the reason
/// @param mapsOwners whether its CephFS supports id-mapped mounts
/// @param release as uname(2) has it
public record KernelClient(boolean hasCeph, Map<CephKey.Kind, String> rejected, boolean mapsOwners, String release) {
    private static final String TYPE = "ceph";
    private static final Pattern RELEASE = Pattern.compile("([0-9]{1,9})\\.([0-9]{1,9}).*");

    /// The first release that uses keys of kind aes256k: 7.0 (`net/ceph/crypto.c`).
    private static final Release AES256K_SINCE = new Release(7, 0);

    /// The first release whose CephFS supports id-mapped mounts: 6.7.
    private static final Release IDMAP_SINCE = new Release(6, 7);

    private static final Path PARAMETERS = Path.of("/sys/module/ceph/parameters");

    /// A module parameter that came with id-mapped mounts, in the same patches (`fs/ceph/super.c`).
    private static final String IDMAP_PARAMETER = "enable_unsafe_idmap";

    public KernelClient {
        rejected = Map.copyOf(rejected);
    }

    private record Release(int major, int minor) implements Comparable<Release> {
        /// Parses the output of uname(2). A strange one is older than all others.
        static Release parse(String text) {
            Matcher matcher = RELEASE.matcher(text);
            return matcher.matches()
                    ? new Release(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)))
                    : new Release(0, 0);
        }

        @Override
        public int compareTo(Release other) {
            return major == other.major ? Integer.compare(minor, other.minor) : Integer.compare(major, other.major);
        }
    }

    /// Returns whether this kernel has CephFS, and loads its module.
    static boolean isThere() {
        return MountSyscalls.kernelHas(TYPE);
    }

    /// Asks the kernel. It costs a few system calls and no request to Ceph, so it is asked again for every mount: the
    /// module may be loaded or replaced at any time.
    public static KernelClient ask() {
        String release = System.getProperty("os.version");
        return isThere()
                ? asked(byRelease(true, release), KernelClient::takes, parameters())
                : byRelease(false, release);
    }

    /// Returns what the release number says: the guess where the kernel does not answer.
    public static KernelClient byRelease(boolean hasCeph, String text) {
        Release release = Release.parse(text);
        return new KernelClient(
                hasCeph,
                release.compareTo(AES256K_SINCE) >= 0
                        ? Map.of()
                        : Map.of(CephKey.Kind.AES256K, "kernels before 7.0 cannot use an aes256k key"),
                release.compareTo(IDMAP_SINCE) >= 0,
                text);
    }

    /// Returns what the kernel answers.
    ///
    /// @param guess what holds where it does not answer
    /// @param takes whether it takes a key of that kind; no answer if it takes not even `aes`, which all have
    /// @param parameters the parameters of its module; no answer if there are none
    static KernelClient asked(KernelClient guess, Predicate<CephKey.Kind> takes, Set<String> parameters) {
        return new KernelClient(
                guess.hasCeph,
                takes.test(CephKey.Kind.AES) ? rejected(takes, guess.release) : guess.rejected,
                parameters.isEmpty() ? guess.mapsOwners : parameters.contains(IDMAP_PARAMETER),
                guess.release);
    }

    private static Map<CephKey.Kind, String> rejected(Predicate<CephKey.Kind> takes, String release) {
        return Stream.of(CephKey.Kind.values())
                .filter(takes.negate())
                .collect(Collectors.toMap(
                        kind -> kind, kind -> "Linux " + release + " rejects " + kind + " keys, which came with 7.0"));
    }

    /// Whether the kernel takes such a key as a mount option. `set_secret` of `net/ceph/crypto.c` rejects a kind that
    /// it does not know. Where that only happens when a monitor has replied, 32 octets are too long for a kernel
    /// without aes256k. It logs "secret too big" then, so they come second.
    ///
    /// Whether the kernel also has the ciphers shows only at a mount, see [UnusableKeys].
    private static boolean takes(CephKey.Kind kind) {
        return Stream.of(CephKey.madeUpShort(kind), CephKey.madeUp(kind))
                .allMatch(key -> MountSyscalls.takesOption(TYPE, "secret", key.reveal()));
    }

    private static Set<String> parameters() {
        try (Stream<Path> files = Files.list(PARAMETERS)) {
            return files.map(file -> String.valueOf(file.getFileName())).collect(Collectors.toSet());
        } catch (IOException _) {
            return Set.of();
        }
    }

    /// Returns the same kernel without one more kind of keys.
    ///
    /// @param why for people
    KernelClient without(CephKey.Kind kind, String why) {
        Map<CephKey.Kind, String> more = new EnumMap<>(CephKey.Kind.class);
        more.putAll(rejected);
        more.put(kind, why);
        return new KernelClient(hasCeph, more, mapsOwners, release);
    }

    /// Returns why it cannot mount with a key of that kind; empty if it can.
    public Optional<String> obstacle(CephKey.Kind key) {
        return hasCeph
                ? Optional.ofNullable(rejected.get(key))
                : Optional.of("its kernel has no ceph file system, and no module for it");
    }
}
