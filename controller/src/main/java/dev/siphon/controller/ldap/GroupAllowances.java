package dev.siphon.controller.ldap;

import dev.siphon.csi.DriverException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/// What groups give their members: for each member the largest only, so that it takes memory by the people and
/// not by the memberships.
final class GroupAllowances {
    /// What all may take in memory, in bytes: the heap has 144 MiB for everything (`deploy/src/build/siphon`).
    static final long MOST_BYTES = 12 << 20;

    /// What a key takes beside its characters, in bytes: an entry of a map, a string, an array.
    private static final int KEY_BYTES = 96;

    private final Map<String, Grant> byMember = new HashMap<>();
    private final Map<String, Grant> byGid = new HashMap<>();
    private long bytes;

    /// What one group gives.
    ///
    /// @param fault of a group whose allowance cannot be read: of all its members then
    record Grant(long bytes, Optional<DriverException> fault) {
        Grant larger(Grant other) {
            return fault.isPresent() || (other.fault.isEmpty() && bytes >= other.bytes) ? this : other;
        }
    }

    /// To whom the group lists.
    ///
    /// @param key name or DN
    /// @throws DriverException.BackendFault if they are more than memory is for
    void addMember(String key, Grant grant) {
        add(byMember, key, grant);
    }

    /// To those whose first group it is.
    void addGid(String gid, Grant grant) {
        add(byGid, gid, grant);
    }

    private void add(Map<String, Grant> grants, String key, Grant grant) {
        if (grants.containsKey(key)) {
            grants.merge(key, grant, Grant::larger);
            return;
        }
        grants.put(key, grant);
        bytes += KEY_BYTES + key.length();
        if (bytes > MOST_BYTES) {
            throw new DriverException.BackendFault("LDAP's groups with an allowance have more than "
                    + (byMember.size() + byGid.size() - 1) + " members, whose names take more than " + MOST_BYTES
                    + " bytes: give the largest allowance by a parameter of the class, or as accounts' own");
        }
    }

    /// What somebody gets of the groups.
    ///
    /// @throws DriverException that of a group whose allowance cannot be read
    OptionalLong largest(String member, String gid) {
        Optional<Grant> listed = Optional.ofNullable(byMember.get(member));
        Optional<Grant> first = Optional.ofNullable(byGid.get(gid));
        Optional<Grant> largest =
                Stream.of(listed, first).flatMap(Optional::stream).reduce(Grant::larger);
        largest.flatMap(Grant::fault).ifPresent(fault -> {
            throw fault;
        });
        return largest.map(it -> OptionalLong.of(it.bytes())).orElseGet(OptionalLong::empty);
    }
}
