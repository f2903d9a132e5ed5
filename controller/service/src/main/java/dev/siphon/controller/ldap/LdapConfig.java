package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import dev.siphon.controller.identity.DirectoryCacheLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// The LDAP servers to ask, and the layout of accounts and groups there. [LdapConfigFile] reads it. It holds no
/// secret.
///
/// @param servers in order of preference: the next is asked if one does not answer
/// @param caFile trusted certificates in PEM, to which the servers' certificates must chain; empty for those of the
///     Java runtime
/// @param bind the account to bind as; empty for an anonymous connection
/// @param accounts the layout of people
/// @param groups the layout of groups
/// @param limits times and sizes
/// @param cache how long replies are used
public record LdapConfig(
        List<LdapServer> servers,
        Optional<Path> caFile,
        Optional<Bind> bind,
        Accounts accounts,
        Groups groups,
        Limits limits,
        DirectoryCacheLimits cache) {
    public LdapConfig {
        servers = List.copyOf(servers);
    }

    /// The account to bind as.
    ///
    /// @param passwordFile read at each bind, so that a new password needs no restart
    public record Bind(DN dn, Path passwordFile) {}

    /// The layout of people. All components except `base`, `filter` and `lowestUid` are names of attributes.
    ///
    /// @param base the search covers everything below this DN
    /// @param filter selects the entries that are accounts
    /// @param name the account's name
    /// @param id an id that never changes: entryUUID (RFC 4530), objectGUID
    /// @param uid the owner of its files
    /// @param gid the group of its files
    /// @param allowance the total size of its volumes
    /// @param lowestUid accounts with a smaller uid are refused: they belong to the system
    public record Accounts(
            DN base,
            Filter filter,
            String name,
            String id,
            String uid,
            String gid,
            Optional<String> allowance,
            long lowestUid) {}

    /// The layout of groups, as in [Accounts].
    ///
    /// @param members the attribute that lists the members
    /// @param membership the kind of its values
    public record Groups(
            DN base,
            Filter filter,
            String name,
            String id,
            String gid,
            String members,
            Membership membership,
            Optional<String> allowance) {}

    /// The kind of values that list a group's members.
    public enum Membership {
        /// names of the members: memberUid (RFC 2307)
        NAMES,
        /// DNs of the members: member (RFC 4519)
        DNS
    }

    /// Times and sizes.
    ///
    /// @param lookup total time for one lookup
    /// @param connections maximum number of connections, and so of concurrent lookups
    /// @param pageSize entries per page of a search (RFC 2696)
    public record Limits(Duration lookup, int connections, int pageSize) {
        /// Returns the time limit of one step (connect, bind, one page of a search). A server that hangs leaves
        /// time for the next one.
        Duration step() {
            return lookup.dividedBy(3);
        }

        /// Returns the time limit of a search for all accounts: 5 minutes if a lookup has 5 seconds.
        Duration listing() {
            return lookup.multipliedBy(60);
        }
    }
}
