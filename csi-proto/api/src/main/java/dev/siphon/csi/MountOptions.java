package dev.siphon.csi;

import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;

/// The mount options that a StorageClass or PV may set. All others are refused: an option could name another
/// identity (`name=`), carry a key (`secret=`), or hide a second option behind a comma.
public final class MountOptions {
    /// The key in class parameters and volume contexts; its options are separated by commas.
    public static final String KEY = "mountOptions";

    private static final Pattern NAME = Pattern.compile("[a-z_-]{1,30}");
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,10}");
    private static final Pattern NONE = Pattern.compile("");

    /// Maps each option to the format of its value; from mount.ceph(8), "Advanced" and "Basic", and mount(8).
    private static final Map<String, Pattern> ALLOWED = Map.ofEntries(
            Map.entry("noatime", NONE),
            Map.entry("nodiratime", NONE),
            Map.entry("relatime", NONE),
            Map.entry("nodev", NONE),
            Map.entry("nosuid", NONE),
            Map.entry("noexec", NONE),
            Map.entry("ro", NONE),
            Map.entry("sync", NONE),
            Map.entry("dirsync", NONE),
            Map.entry("acl", NONE),
            Map.entry("noacl", NONE),
            Map.entry("norbytes", NONE),
            Map.entry("rbytes", NONE),
            Map.entry("nodcache", NONE),
            Map.entry("dcache", NONE),
            Map.entry("nowsync", NONE),
            Map.entry("wsync", NONE),
            Map.entry("rsize", NUMBER),
            Map.entry("wsize", NUMBER),
            Map.entry("rasize", NUMBER),
            Map.entry("caps_max", NUMBER),
            Map.entry("readdir_max_entries", NUMBER),
            Map.entry("readdir_max_bytes", NUMBER),
            Map.entry("write_congestion_kb", NUMBER),
            Map.entry("caps_wanted_delay_min", NUMBER),
            Map.entry("caps_wanted_delay_max", NUMBER),
            Map.entry("recover_session", Pattern.compile("no|clean")),
            Map.entry("ms_mode", Pattern.compile("legacy|crc|secure|prefer-crc|prefer-secure")),
            Map.entry("read_from_replica", Pattern.compile("no|balance|localize")));

    private MountOptions() {}

    /// Checks one option.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if `option` is not allowed or its value has a
    ///     wrong format
    public static void check(String option) {
        int equals = option.indexOf('=');
        String name = equals < 0 ? option : option.substring(0, equals);
        String value = equals < 0 ? "" : option.substring(equals + 1);
        Pattern form = ALLOWED.get(name);
        if (form == null) {
            // omits the value, and a malformed name: either may be a key, which must not reach a log
            throw new DriverException.InvalidRequest("mount option "
                    + (NAME.matcher(name).matches() ? QuotedText.of(name) : "of an unknown form")
                    + " is not allowed; allowed are " + String.join(", ", new TreeSet<>(ALLOWED.keySet())));
        }
        if ((form == NONE) == (equals >= 0) || !form.matcher(value).matches()) {
            throw new DriverException.InvalidRequest("mount option " + QuotedText.of(name) + " has an invalid value");
        }
    }
}
