package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.SearchResultEntry;
import dev.siphon.controller.identity.Account;
import dev.siphon.csi.DriverException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// All accounts of the directory by paged searches, however many there are: of the groups that have an allowance
/// with their members, of all groups, and of the people. In memory are one entry, and who is given what by those
/// groups: a group that gives nothing costs nothing, whoever is in it.
record AccountListing(LdapConnections connections, LdapConfig.Accounts accounts, LdapConfig.Groups groups) {
    private static final Logger LOG = LoggerFactory.getLogger(AccountListing.class);

    /// Hands all accounts over, the groups first. People's groups are left out: there are more of them than
    /// memory, and whoever wants all accounts asks for their allowances.
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

    private void addGrants(String attribute, GroupAllowances grants) {
        Filter giving = Filter.createANDFilter(groups.filter(), Filter.createPresenceFilter(attribute));
        List<String> attributes = List.of(attribute, groups.gid(), groups.members());
        connections.each(LdapDirectory.search(groups.base(), giving, attributes), entry -> {
            LdapAttributes found = new LdapAttributes(entry);
            grant(found).ifPresent(grant -> {
                found.each(groups.gid(), gid -> grants.addGid(gid, grant));
                found.each(groups.members(), member -> grants.addMember(key(member), grant));
            });
        });
    }

    private Optional<GroupAllowances.Grant> grant(LdapAttributes group) {
        try {
            OptionalLong bytes = group.allowance(groups.allowance());
            return bytes.isPresent()
                    ? Optional.of(new GroupAllowances.Grant(bytes.getAsLong(), Optional.empty()))
                    : Optional.empty();
        } catch (DriverException.BackendFault broken) {
            return Optional.of(new GroupAllowances.Grant(0, Optional.of(broken)));
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

    /// The account of an entry that can be one. A look-up of the others fails, and says why.
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
