package dev.siphon.node.ceph;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.ArrayList;
import java.util.List;

/// Translates mount options of the kernel client for ceph-fuse (ceph-fuse(8), "CephFS Client Configuration").
final class FuseOptions {
    private FuseOptions() {}

    /// Returns the arguments for `options`.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if ceph-fuse does not support an option
    static List<String> arguments(List<String> options) {
        List<String> arguments = new ArrayList<>();
        for (String option : options) {
            arguments.addAll(argument(option));
        }
        return arguments;
    }

    private static List<String> argument(String option) {
        return switch (option) {
            case "rbytes" -> List.of("--client_dirsize_rbytes=true");
            case "norbytes" -> List.of("--client_dirsize_rbytes=false");
            // otherwise the kernel would check permissions before ceph-fuse could check the ACL
            case "acl" -> List.of("--client_acl_type=posix_acl", "--fuse_default_permissions=false");
            case "noacl" -> List.of();
            case "ms_mode=crc" -> List.of("--ms_client_mode=crc");
            case "ms_mode=secure" -> List.of("--ms_client_mode=secure");
            case "ms_mode=prefer-crc" -> List.of("--ms_client_mode=crc secure");
            case "ms_mode=prefer-secure" -> List.of("--ms_client_mode=secure crc");
            default -> numeric(option);
        };
    }

    private static List<String> numeric(String option) {
        String readAhead = "rasize=";
        if (option.startsWith(readAhead)) {
            return List.of("--client_readahead_max_bytes=" + option.substring(readAhead.length()));
        }
        throw new DriverException.InvalidRequest("mount option " + QuotedText.of(option)
                + " exists only in the kernel's client, but this node mounts with ceph-fuse: leave it out");
    }
}
