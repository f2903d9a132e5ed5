package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchScope;
import dev.siphon.controller.identity.Account;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Lists all accounts of a directory of any size with paged searches: first the members of groups that have an
/// allowance, then all groups, then all people. Memory holds one entry at a time, and the largest allowance of each
/// member. Groups without an allowance use no memory.
record AccountListing(LdapConnections connections, LdapConfig.Accounts accounts, LdapConfig.Groups groups) {
    private static final Logger LOG = LoggerFactory.getLogger(AccountListing.class);

    /// Passes all accounts to `each`, groups first. Omits the group names of people: they would not fit in memory,
    /// and callers of a listing need only allowances.
    void each(Consumer<Account> each) {
        GroupAllowances grants = new GroupAllowances();
        groups.allowance().ifPresent(attribute -> addGrants(attribute, grants));
        List<String> attributes =
                LdapDirectory.attributes(groups.allowance(), groups.name(), groups.id(), groups.gid());
        connections.each(
                LdapDirectory.search(groups.base(), groups.filter(), attributes),
                entry -> group(entry).ifPresent(each));
        connections.each(
                LdapDirectory.search(accounts.base(), accounts.filter(), LdapDirectory.attributes(accounts)),
                entry -> person(entry, grants).ifPresent(each));
    }

    /// A group whose members from number `next` on are not read yet.
    private record Unread(String dn, GroupAllowances.Grant grant, long next) {}

    private void addGrants(String attribute, GroupAllowances grants) {
        Filter giving = Filter.createANDFilter(groups.filter(), Filter.createPresenceFilter(attribute));
        List<String> attributes = List.of(attribute, groups.gid(), groups.members());
        List<Unread> unread = new ArrayList<>();
        connections.each(LdapDirectory.search(groups.base(), giving, attributes), entry -> {
            LdapAttributes found = new LdapAttributes(entry);
            grant(found).ifPresent(grant -> {
                found.each(groups.gid(), gid -> grants.addGid(gid, grant));
                addMembers(entry, grant, grants).ifPresent(next -> unread.add(new Unread(entry.getDN(), grant, next)));
            });
        });
        unread.forEach(group -> addOtherMembers(group, grants));
    }

    /// @return where the next part of the members begins
    private OptionalLong addMembers(SearchResultEntry entry, GroupAllowances.Grant grant, GroupAllowances grants) {
        return new LdapAttributes(entry).eachOfPart(groups.members(), member -> grants.addMember(key(member), grant));
    }

    private void addOtherMembers(Unread group, GroupAllowances grants) {
        OptionalLong next = OptionalLong.of(group.next());
        while (next.isPresent()) {
            long from = next.getAsLong();
            LdapConnections.Search part = new LdapConnections.Search(
                    group.dn(), SearchScope.BASE, groups.filter(), List.of(groups.members() + ";range=" + from + "-*"));
            next = connections.atMostTwo(part).stream()
                    .map(entry -> addMembers(entry, group.grant(), grants))
                    .findFirst()
                    .orElse(OptionalLong.empty()); // deleted meanwhile
            if (next.isPresent() && next.getAsLong() <= from) {
                throw new DriverException.BackendFault("LDAP entry " + QuotedText.of(group.dn()) + ": attribute "
                        + groups.members() + " is sent in parts, and the one after value " + from + " ends before it");
            }
        }
    }

    private Optional<GroupAllowances.Grant> grant(LdapAttributes group) {
        try {
            OptionalLong bytes = group.allowance(groups.allowance());
            return bytes.isPresent()
                    ? Optional.of(new GroupAllowances.Grant.Allowance(bytes.getAsLong()))
                    : Optional.empty();
        } catch (DriverException.BackendFault broken) {
            return Optional.of(new GroupAllowances.Grant.Unreadable(broken));
        }
    }

    private Optional<Account> group(SearchResultEntry entry) {
        return usable(entry, groups.name(), (name, attributes) -> LdapDirectory.group(groups, name, attributes));
    }

    private Optional<Account> person(SearchResultEntry entry, GroupAllowances grants) {
        return usable(entry, accounts.name(), (name, attributes) -> {
            String member = switch (groups.membership()) {
                case NAMES -> name;
                case DNS -> entry.getDN();
            };
            String gid = Integer.toUnsignedString(attributes.id(accounts.gid(), 1));
            return LdapDirectory.person(accounts, name, attributes, Set.of(), grants.largest(key(member), gid));
        });
    }

    @FunctionalInterface
    private interface Form {
        Account of(String name, LdapAttributes attributes);
    }

    /// Returns the account of an entry, or empty if it cannot be one. A lookup of an entry with an unusable
    /// attribute fails with the reason.
    private static Optional<Account> usable(SearchResultEntry entry, String nameAttribute, Form form) {
        LdapAttributes attributes = new LdapAttributes(entry);
        try {
            return attributes.texts(nameAttribute).stream()
                    .filter(LdapDirectory::canBeName)
                    .findFirst()
                    .map(name -> form.of(name, attributes));
        } catch (DriverException.BackendFault broken) {
            LOG.atDebug().addKeyValue("dn", entry.getDN()).log("cannot own files: {}", broken.getMessage());
            return Optional.empty();
        }
    }

    /// Returns what members are compared by: a name as it is, a DN in its normal form.
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
