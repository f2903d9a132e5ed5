package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.SearchResultEntry;
import dev.siphon.controller.identity.Account;
import dev.siphon.csi.DriverException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All accounts of the directory by two paged searches, one of the groups and one of the people, however many there
/// are. In memory are a page of people, and of the groups their names and who is in them.
record Listing(LdapConnections connections, LdapConfig.Accounts accounts, LdapConfig.Groups groups) {
    private static final Logger LOG = LoggerFactory.getLogger(Listing.class);

    /// A group as its members see it; empty allowances are none, a broken one is a fault of all its members.
    private record Membership(List<String> names, OptionalLong allowance, Optional<DriverException> fault) {}

    /// Hands all accounts over, the groups first. A group's members are left out where the server names them by DN.
    void each(Consumer<Account> each) {
        Map<String, List<Membership>> byMember = new HashMap<>();
        Map<String, List<Membership>> byGid = new HashMap<>();
        connections.each(LdapDirectory.search(groups.base(), groups.filter(), groupAttributes()), entry -> {
            Attributes attributes = new Attributes(entry);
            Membership membership = membership(attributes);
            attributes.texts(groups.gid()).forEach(gid -> add(byGid, gid, membership));
            attributes.texts(groups.members()).forEach(member -> add(byMember, key(member), membership));
            group(entry).ifPresent(each);
        });
        connections.each(
                LdapDirectory.search(accounts.base(), accounts.filter(), LdapDirectory.attributes(accounts)),
                entry -> person(entry, byMember, byGid).ifPresent(each));
    }

    private static void add(Map<String, List<Membership>> memberships, String key, Membership membership) {
        memberships.computeIfAbsent(key, _ -> new ArrayList<>()).add(membership);
    }

    private Membership membership(Attributes attributes) {
        List<String> names = attributes.texts(groups.name());
        try {
            return new Membership(names, attributes.allowance(groups.allowance()), Optional.empty());
        } catch (DriverException.BackendFault broken) {
            return new Membership(names, OptionalLong.empty(), Optional.of(broken));
        }
    }

    private List<String> groupAttributes() {
        return LdapDirectory.attributes(groups.allowance(), groups.name(), groups.id(), groups.gid(), groups.members());
    }

    private Optional<Account> group(SearchResultEntry entry) {
        return usable(entry, groups.name(), (name, attributes) -> {
            Set<String> members = switch (groups.membership()) {
                case NAMES -> new HashSet<>(attributes.texts(groups.members()));
                case DNS -> Set.of();
            };
            return LdapDirectory.group(groups, name, attributes, members);
        });
    }

    private Optional<Account> person(
            SearchResultEntry entry, Map<String, List<Membership>> byMember, Map<String, List<Membership>> byGid) {
        return usable(entry, accounts.name(), (name, attributes) -> {
            String member = switch (groups.membership()) {
                case NAMES -> name;
                case DNS -> entry.getDN();
            };
            Set<String> names = new HashSet<>();
            OptionalLong allowance = OptionalLong.empty();
            List<Membership> all = new ArrayList<>(byMember.getOrDefault(key(member), List.of()));
            String gid = Integer.toUnsignedString(attributes.id(accounts.gid(), 1));
            all.addAll(byGid.getOrDefault(gid, List.of()));
            for (Membership in : all) {
                in.fault().ifPresent(fault -> {
                    throw fault;
                });
                names.addAll(in.names());
                allowance = LdapDirectory.larger(allowance, in.allowance());
            }
            return LdapDirectory.person(accounts, name, attributes, names, allowance);
        });
    }

    @FunctionalInterface
    private interface Reading {
        Account of(String name, Attributes attributes);
    }

    /// The account of an entry that can be one. A look-up of the others fails, and says why.
    private static Optional<Account> usable(SearchResultEntry entry, String nameAttribute, Reading reading) {
        Attributes attributes = new Attributes(entry);
        try {
            return attributes.texts(nameAttribute).stream()
                    .filter(LdapDirectory::canBeName)
                    .findFirst()
                    .map(name -> reading.of(name, attributes));
        } catch (DriverException.BackendFault broken) {
            LOG.atDebug().addKeyValue("dn", entry.getDN()).log("cannot own files: {}", broken.getMessage());
            return Optional.empty();
        }
    }

    /// Names as they are; DNs in the one form that equal ones share.
    private String key(String member) {
        if (groups.membership() == LdapConfig.Membership.NAMES) {
            return member;
        }
        try {
            return DN.normalize(member);
        } catch (LDAPException notADn) {
            return member;
        }
    }
}
