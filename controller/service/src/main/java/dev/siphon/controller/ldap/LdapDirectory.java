package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchScope;
import dev.siphon.controller.identity.Account;
import dev.siphon.controller.identity.AccountDirectory;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// Looks up accounts and groups in LDAP, without a cache.
///
/// LDAP ignores case, blanks and some look-alike characters when it compares names. An entry therefore counts only
/// if its name is equal character for character. Names are passed as values of equality filters, never as filter
/// text. An account without a personal allowance gets the largest of its groups.
final class LdapDirectory implements AccountDirectory {
    private static final int MAX_NAME = 255;

    private final LdapConnections connections;
    private final LdapConfig.Accounts accounts;
    private final LdapConfig.Groups groups;

    LdapDirectory(LdapConnections connections, LdapConfig config) {
        this.connections = connections;
        this.accounts = config.accounts();
        this.groups = config.groups();
    }

    @Override
    public Optional<Account> account(String name) {
        if (name.startsWith(GROUP)) {
            return group(name.substring(GROUP.length()));
        }
        return only(accounts.base(), accounts.filter(), accounts.name(), name, accountAttributes())
                .map(entry -> person(name, entry));
    }

    @Override
    public void accounts(Consumer<Account> each) {
        new AccountListing(connections, accounts, groups).each(each);
    }

    private Account person(String name, SearchResultEntry entry) {
        LdapAttributes attributes = new LdapAttributes(entry);
        int gid = attributes.id(accounts.gid(), 1);
        Set<String> names = new HashSet<>();
        OptionalLong groupsAllowance = OptionalLong.empty();
        for (SearchResultEntry group : groupsOf(name, entry.getDN(), gid)) {
            LdapAttributes found = new LdapAttributes(group);
            names.addAll(found.texts(groups.name()));
            groupsAllowance = larger(groupsAllowance, found.allowance(groups.allowance()));
        }
        return person(accounts, name, attributes, names, groupsAllowance);
    }

    /// Returns the account of an entry.
    ///
    /// @param in the names of its groups
    /// @param groupsAllowance the largest allowance of its groups
    static Account person(
            LdapConfig.Accounts accounts,
            String name,
            LdapAttributes attributes,
            Set<String> in,
            OptionalLong groupsAllowance) {
        int uid = attributes.id(accounts.uid(), accounts.lowestUid());
        int gid = attributes.id(accounts.gid(), 1);
        String id = "ldap:" + attributes.immutableId(accounts.id()) + ":" + Integer.toUnsignedString(uid);
        OptionalLong own = attributes.allowance(accounts.allowance());
        return new Account(name, id, uid, gid, in, own.isPresent() ? own : groupsAllowance);
    }

    static OptionalLong larger(OptionalLong one, OptionalLong other) {
        if (one.isPresent() && other.isPresent()) {
            return OptionalLong.of(Math.max(one.getAsLong(), other.getAsLong()));
        }
        return one.isPresent() ? one : other;
    }

    /// Returns the groups that list the account, and its primary group.
    private List<SearchResultEntry> groupsOf(String name, String dn, int gid) {
        String member = switch (groups.membership()) {
            case NAMES -> name;
            case DNS -> dn;
        };
        Filter mine = Filter.createORFilter(
                Filter.createEqualityFilter(groups.members(), member),
                Filter.createEqualityFilter(groups.gid(), Integer.toUnsignedString(gid)));
        List<String> attributes = attributes(groups.allowance(), groups.name());
        return connections.all(search(groups.base(), Filter.createANDFilter(groups.filter(), mine), attributes));
    }

    private Optional<Account> group(String name) {
        List<String> attributes = attributes(groups.allowance(), groups.name(), groups.id(), groups.gid());
        return only(groups.base(), groups.filter(), groups.name(), name, attributes)
                .map(entry -> group(groups, name, new LdapAttributes(entry)));
    }

    /// Returns the account of a group's entry.
    static Account group(LdapConfig.Groups groups, String name, LdapAttributes found) {
        int gid = found.id(groups.gid(), 1);
        String id = "ldap:group:" + found.immutableId(groups.id()) + ":" + Integer.toUnsignedString(gid);
        return new Account(GROUP + name, id, 0, gid, Set.of(name), found.allowance(groups.allowance()));
    }

    /// Returns the one entry with this name; empty if there is none.
    private Optional<SearchResultEntry> only(
            DN base, Filter kind, String attribute, String name, List<String> attributes) {
        if (!canBeName(name)) {
            return Optional.empty();
        }
        Filter filter = Filter.createANDFilter(kind, Filter.createEqualityFilter(attribute, name));
        List<SearchResultEntry> found = connections.atMostTwo(search(base, filter, attributes));
        if (found.size() > 1) {
            throw new DriverException.BackendFault("LDAP has several entries that " + QuotedText.of(name)
                    + " matches as " + attribute + ", "
                    + QuotedText.of(found.get(0).getDN()) + " and "
                    + QuotedText.of(found.get(1).getDN()) + ": it is unclear which one is meant");
        }
        return found.stream()
                .filter(entry -> new LdapAttributes(entry).texts(attribute).contains(name))
                .findFirst();
    }

    static LdapConnections.Search search(DN base, Filter filter, List<String> attributes) {
        return new LdapConnections.Search(base.toString(), SearchScope.SUB, filter, attributes);
    }

    private List<String> accountAttributes() {
        return attributes(accounts);
    }

    /// Returns the attributes that an account is built from.
    static List<String> attributes(LdapConfig.Accounts accounts) {
        return attributes(accounts.allowance(), accounts.name(), accounts.id(), accounts.uid(), accounts.gid());
    }

    static List<String> attributes(Optional<String> more, String... always) {
        return Stream.concat(Stream.of(always), more.stream()).toList();
    }

    /// Checks whether a name can exist in a directory. Other text from the wire is not searched for.
    static boolean canBeName(String name) {
        Predicate<Integer> hidden = c -> Character.isISOControl(c)
                || Character.getType(c) == Character.FORMAT
                || Character.getType(c) == Character.SURROGATE
                || Character.getType(c) == Character.UNASSIGNED;
        return !name.isEmpty()
                && name.length() <= MAX_NAME
                && name.strip().length() == name.length()
                && !name.startsWith(GROUP)
                && name.codePoints().boxed().noneMatch(hidden);
    }
}
