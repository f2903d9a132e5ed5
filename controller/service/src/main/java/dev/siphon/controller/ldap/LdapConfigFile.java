package dev.siphon.controller.ldap;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPException;
import dev.siphon.controller.config.JsonFile;
import dev.siphon.controller.config.JsonObjectReader;
import dev.siphon.controller.identity.DirectoryCacheLimits;
import dev.siphon.csi.QuotedText;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// Reads the file that describes where accounts are in LDAP. docs/how-to/accounts.md, "Accounts from LDAP", has an
/// example for each preset.
public final class LdapConfigFile {
    private static final Set<String> KEYS = Set.of(
            "preset",
            "servers",
            "tls",
            "caFile",
            "bindDn",
            "passwordFile",
            "base",
            "accounts",
            "groups",
            "timeoutSeconds",
            "connections",
            "pageSize",
            "cache");
    private static final Set<String> ACCOUNT_KEYS =
            Set.of("base", "filter", "name", "id", "uid", "gid", "allowance", "lowestUid");
    private static final Set<String> GROUP_KEYS =
            Set.of("base", "filter", "name", "id", "gid", "members", "membership", "allowance");
    private static final Set<String> CACHE_KEYS = Set.of("freshSeconds", "staleSeconds", "entries");
    private static final Pattern ATTRIBUTE = Pattern.compile("[A-Za-z][A-Za-z0-9.;-]*");
    private static final Filter ANYTHING = Filter.createPresenceFilter("objectClass");

    /// Smaller uids belong to the system on Debian and most others (adduser.conf(5), FIRST_UID).
    private static final long FIRST_UID = 1000;

    private static final long MAX_ID = 0xFFFF_FFFEL;
    private static final long MAX_SECONDS = 30L * 24 * 3600;

    private static final JsonFile FILE = new JsonFile("directory file", KEYS);

    private LdapConfigFile() {}

    /// Reads the file, and checks the files that it names.
    ///
    /// @throws JsonFile.Invalid if it cannot be read, or anything in it is wrong
    public static LdapConfig read(Path file) {
        return FILE.read(file, LdapConfigFile::config);
    }

    /// Parses the text of a file.
    ///
    /// @throws JsonFile.Invalid if anything in it is wrong
    static LdapConfig parse(Path file, String text) {
        return FILE.parse(file, text, LdapConfigFile::config);
    }

    /// Returns the configuration. Records each error and continues with a placeholder.
    private static LdapConfig config(JsonObjectReader fields) {
        DirectoryPreset preset = fields.need("preset", "rfc2307", DirectoryPreset.RFC2307, DirectoryPreset::of);
        boolean plain = fields.need("tls", "required", false, LdapConfigFile::isPlain);
        String base = fields.text("base").orElse("");
        Duration lookup = Duration.ofSeconds(fields.number("timeoutSeconds", 5, 1, 60));
        return new LdapConfig(
                servers(fields, plain),
                caFile(fields),
                bind(fields, plain),
                accounts(fields.object("accounts", ACCOUNT_KEYS), preset, base),
                groups(fields.object("groups", GROUP_KEYS), preset, base),
                new LdapConfig.Limits(lookup, (int) fields.number("connections", 8, 1, 256), (int)
                        fields.number("pageSize", 500, 1, 100_000)),
                cache(fields.object("cache", CACHE_KEYS), lookup));
    }

    private static Optional<Path> caFile(JsonObjectReader fields) {
        return fields.read("caFile", "", JsonObjectReader::absolute).map(path -> {
            ServerTrust.check(path).ifPresent(problem -> fields.wrong("caFile", problem));
            return path;
        });
    }

    private static List<LdapServer> servers(JsonObjectReader fields, boolean plain) {
        List<LdapServer> servers = new ArrayList<>();
        List<String> texts = fields.texts("servers");
        for (String text : texts) {
            try {
                servers.add(LdapServer.parse(text, plain));
            } catch (IllegalArgumentException invalid) {
                fields.wrong("servers", QuotedText.of(text) + " " + invalid.getMessage());
            }
        }
        if (texts.isEmpty()) {
            fields.wrong("servers", "must list at least one ldap://HOST[:PORT] or ldaps://HOST[:PORT]");
        }
        if (new HashSet<>(servers).size() < servers.size()) {
            fields.wrong("servers", "lists a server twice");
        }
        return servers;
    }

    private static Optional<LdapConfig.Bind> bind(JsonObjectReader fields, boolean plain) {
        Optional<DN> dn = fields.read("bindDn", "", LdapConfigFile::dn);
        Optional<Path> file = fields.read("passwordFile", "", JsonObjectReader::absolute);
        file.flatMap(PasswordFile::check).ifPresent(problem -> fields.wrong("passwordFile", problem));
        if (dn.isPresent() != file.isPresent()) {
            fields.wrong("bindDn", "and passwordFile go together");
        }
        if (dn.isPresent() && plain) {
            fields.wrong("tls", "\"none\" would send the password unencrypted");
        }
        return dn.isPresent() && file.isPresent()
                ? Optional.of(new LdapConfig.Bind(dn.get(), file.get()))
                : Optional.empty();
    }

    private static LdapConfig.Accounts accounts(JsonObjectReader fields, DirectoryPreset preset, String base) {
        return new LdapConfig.Accounts(
                fields.need("base", base, DN.NULL_DN, LdapConfigFile::dn),
                fields.need("filter", preset.account("filter"), ANYTHING, LdapConfigFile::filter),
                attribute(fields, "name", preset.account("name")),
                attribute(fields, "id", preset.account("id")),
                attribute(fields, "uid", preset.account("uid")),
                attribute(fields, "gid", preset.account("gid")),
                fields.read("allowance", "", LdapConfigFile::attribute),
                fields.number("lowestUid", FIRST_UID, 1, MAX_ID));
    }

    private static LdapConfig.Groups groups(JsonObjectReader fields, DirectoryPreset preset, String base) {
        return new LdapConfig.Groups(
                fields.need("base", base, DN.NULL_DN, LdapConfigFile::dn),
                fields.need("filter", preset.group("filter"), ANYTHING, LdapConfigFile::filter),
                attribute(fields, "name", preset.group("name")),
                attribute(fields, "id", preset.group("id")),
                attribute(fields, "gid", preset.group("gid")),
                attribute(fields, "members", preset.group("members")),
                fields.need(
                        "membership",
                        preset.group("membership"),
                        LdapConfig.Membership.NAMES,
                        LdapConfigFile::membership),
                fields.read("allowance", "", LdapConfigFile::attribute));
    }

    private static DirectoryCacheLimits cache(JsonObjectReader fields, Duration lookup) {
        long fresh = fields.number("freshSeconds", 60, 0, MAX_SECONDS);
        long stale = fields.number("staleSeconds", 3600, 0, MAX_SECONDS);
        if (stale < fresh) {
            fields.wrong("staleSeconds", "must not be smaller than freshSeconds, " + fresh);
        }
        return new DirectoryCacheLimits(
                Duration.ofSeconds(fresh),
                Duration.ofSeconds(Math.max(stale, fresh)),
                (int) fields.number("entries", 10_000, 1, 1_000_000),
                lookup);
    }

    private static String attribute(JsonObjectReader fields, String key, String whenNone) {
        return fields.need(key, whenNone, key, LdapConfigFile::attribute);
    }

    private static String attribute(String text) {
        if (!ATTRIBUTE.matcher(text).matches()) {
            throw new IllegalArgumentException("is not the name of an attribute");
        }
        return text;
    }

    private static boolean isPlain(String text) {
        return switch (text) {
            case "required" -> false;
            case "none" -> true;
            default -> throw new IllegalArgumentException("must be \"required\" or \"none\"");
        };
    }

    private static LdapConfig.Membership membership(String text) {
        return switch (text) {
            case "names" -> LdapConfig.Membership.NAMES;
            case "dns" -> LdapConfig.Membership.DNS;
            default -> throw new IllegalArgumentException("must be \"names\" or \"dns\"");
        };
    }

    private static DN dn(String text) {
        try {
            return new DN(text);
        } catch (LDAPException invalid) {
            throw new IllegalArgumentException("is not a DN: " + invalid.getMessage(), invalid);
        }
    }

    private static Filter filter(String text) {
        try {
            return Filter.create(text);
        } catch (LDAPException invalid) {
            throw new IllegalArgumentException("is not a filter: " + invalid.getMessage(), invalid);
        }
    }
}
