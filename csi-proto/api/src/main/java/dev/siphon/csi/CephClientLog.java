package dev.siphon.csi;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Log options of the Ceph clients that Siphon starts. By default a client formats what most of its parts say up to
/// level 5 or 10 (`src/common/subsys.h`), and keeps the last lines in memory for a crash: 500, in ceph-fuse 10,000
/// (`log_max_recent`). That takes a fifth of the processor time of a ceph-fuse, and more of a controller's. Errors
/// (level -1) are logged as before.
public final class CephClientLog {
    /// The parts that say much between level 0 and the default.
    private static final List<String> PARTS =
            List.of("auth", "client", "mgrc", "monc", "objectcacher", "objecter", "rados");

    private CephClientLog() {}

    /// Returns the options' values by name, in the order of their names.
    public static Map<String, String> options() {
        Map<String, String> options = new TreeMap<>();
        PARTS.forEach(part -> options.put("debug_" + part, "0/0"));
        options.put("log_max_recent", "1");
        return options;
    }
}
