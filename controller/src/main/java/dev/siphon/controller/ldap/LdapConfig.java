package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import dev.siphon.controller.identity.DirectoryCacheLimits;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// Which LDAP servers to ask, and what accounts and groups look like there; [LdapConfigFile] reads it. Holds no
/// secret.
///
/// @param servers asked in this order: the next one when one does not answer
/// @param caFile certificates in PEM that servers' certificates must lead to; empty for those of the Java runtime
/// @param bind whom to bind as; empty for an anonymous connection
/// @param accounts what people look like
/// @param groups what groups look like
/// @param limits how long and how much at once
/// @param cache how long answers are used
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

    /// Whom to bind as.
    ///
    /// @param passwordFile read at each bind, so that a new password needs no restart
    public record Bind(DN dn, Path passwordFile) {}

    /// What people look like; the rest are names of attributes.
    ///
    /// @param base everything below is searched
    /// @param filter only what matches is an account
    /// @param name what the account is called
    /// @param id what stays for ever: entryUUID (RFC 4530), objectGUID
    /// @param uid the owner of its files
    /// @param gid the group of its files
    /// @param allowance what all its volumes may hold
    /// @param lowestUid accounts with a smaller one are refused: they are the system's
    public record Accounts(
            DN base,
            Filter filter,
            String name,
            String id,
            String uid,
            String gid,
            Optional<String> allowance,
            long lowestUid) {}

    /// What groups look like; as [Accounts].
    ///
    /// @param members the attribute with the members
    /// @param membership what is in it
    public record Groups(
            DN base,
            Filter filter,
            String name,
            String id,
            String gid,
            String members,
            Membership membership,
            Optional<String> allowance) {}

    /// What the attribute with a group's members holds.
    public enum Membership {
        /// the members' names: memberUid (RFC 2307)
        NAMES,
        /// the members' DNs: member (RFC 4519)
        DNS
    }

    /// How long and how much at once.
    ///
    /// @param lookup what one look-up may take in all
    /// @param connections how many there are at most, and so how many look-ups run at once
    /// @param pageSize how many entries the servers are asked for at once (RFC 2696)
    public record Limits(Duration lookup, int connections, int pageSize) {
        /// What one step may take (to connect, to bind, a page of a search): a server that hangs leaves time for
        /// the next one.
        Duration step() {
            return lookup.dividedBy(3);
        }

        /// What a search for all accounts may take: 5 minutes where a look-up has 5 seconds.
        Duration listing() {
            return lookup.multipliedBy(60);
        }
    }
}
