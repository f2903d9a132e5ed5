package dev.siphon.controller.ldap;

import dev.siphon.csi.DriverException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/// Keeps the largest allowance that groups give each member. Memory thus grows with the people, not with their
/// memberships.
final class GroupAllowances {
    /// The limit for all keys, in bytes: the whole heap has 144 MiB (`deploy/src/build/siphon`).
    static final long MOST_BYTES = 12 << 20;

    /// Memory of a key besides its characters, in bytes: a map entry, a string, an array.
    private static final int KEY_BYTES = 96;

    private final Map<String, Grant> byMember = new HashMap<>();
    private final Map<String, Grant> byGid = new HashMap<>();
    private long bytes;

    /// What one group gives its members.
    sealed interface Grant {
        /// An allowance in bytes.
        record Allowance(long bytes) implements Grant {}

        /// An allowance that cannot be read: every member gets this fault.
        record Unreadable(DriverException fault) implements Grant {}

        /// Returns the larger allowance. A fault prevails.
        default Grant larger(Grant other) {
            return switch (this) {
                case Unreadable _ -> this;
                case Allowance(long bytes) ->
                    other instanceof Allowance(long otherBytes) && bytes >= otherBytes ? this : other;
            };
        }
    }

    /// Adds a grant for a listed member.
    ///
    /// @param key the member's name or DN
    /// @throws DriverException.BackendFault if the members exceed the memory limit
    void addMember(String key, Grant grant) {
        add(byMember, key, grant);
    }

    /// Adds a grant for all whose primary group has this gid.
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
                    + (byMember.size() + byGid.size() - 1) + " members, and their names take more than " + MOST_BYTES
                    + " bytes. Set the largest allowance by a parameter of the class, or at the accounts themselves");
        }
    }

    /// Returns the largest allowance of a member from its groups; empty if none gives one.
    ///
    /// @throws DriverException the fault of a group whose allowance cannot be read
    OptionalLong largest(String member, String gid) {
        Optional<Grant> listed = Optional.ofNullable(byMember.get(member));
        Optional<Grant> first = Optional.ofNullable(byGid.get(gid));
        return Stream.of(listed, first)
                .flatMap(Optional::stream)
                .reduce(Grant::larger)
                .map(largest -> switch (largest) {
                    case Grant.Allowance(long bytes) -> OptionalLong.of(bytes);
                    case Grant.Unreadable(DriverException fault) -> throw fault;
                })
                .orElseGet(OptionalLong::empty);
    }
}
