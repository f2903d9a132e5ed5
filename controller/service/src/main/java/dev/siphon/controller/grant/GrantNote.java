package dev.siphon.controller.grant;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.csi.Grants.Grant;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// An account's grant, as the note on its group's directory stores it. It holds the namespaces' uids, so that a
/// recreated namespace inherits nothing.
///
/// @param account the account's name
/// @param namespaces the namespaces whose pods may use its volumes, each with the start of its uid
///     ([#beginning]); "" if unknown
/// @param whole whether the note lists all of them
record GrantNote(String account, SortedMap<String, String> namespaces, boolean whole) {
    /// Maximum size of a note. An MDS allows 64 KiB for all attributes of a directory
    /// (`mds_max_xattr_pairs_size`), and others need space too.
    static final int MOST_BYTES = 48 << 10;

    /// Long enough to distinguish the few namespaces that ever share a name.
    private static final int UID_CHARS = 8;

    private static final String UIDS = "uids";
    private static final String MORE = "more";

    GrantNote {
        namespaces = Collections.unmodifiableSortedMap(new TreeMap<>(namespaces));
    }

    /// Returns a note without namespaces.
    static GrantNote of(String account) {
        return new GrantNote(account, new TreeMap<>(), true);
    }

    /// Returns the start of a namespace's uid, as notes store it.
    static String beginning(String uid) {
        return uid.substring(0, Math.min(uid.length(), UID_CHARS));
    }

    /// Returns a copy with one more namespace, under the account's current name.
    ///
    /// @param uid the start of the namespace's uid, "" if unknown
    GrantNote with(String accountNow, String namespace, String uid) {
        SortedMap<String, String> more = new TreeMap<>(namespaces);
        more.put(namespace, uid);
        return new GrantNote(accountNow, more, whole);
    }

    /// Returns a copy with other namespaces.
    GrantNote with(SortedMap<String, String> others) {
        return new GrantNote(account, others, whole);
    }

    /// Returns the whole note: this one and the published namespaces.
    GrantNote with(Grant published) {
        SortedMap<String, String> all = new TreeMap<>(namespaces);
        published.namespaces().forEach(namespace -> all.putIfAbsent(namespace, ""));
        return new GrantNote(account, all, true);
    }

    /// Returns whether the note lists this namespace, and not a deleted one of the same name.
    ///
    /// @param uid the start of the namespace's uid, "" if unknown
    boolean has(String namespace, String uid) {
        return Optional.ofNullable(namespaces.get(namespace))
                .filter(known -> uid.isEmpty() || uid.equals(known))
                .isPresent();
    }

    /// Returns the grant for nodes.
    Grant grant() {
        return new Grant(account, new TreeMap<>(namespaces).navigableKeySet());
    }

    /// Returns the note's text: a [Grant] that versions without uids can read. If not all namespaces fit, it
    /// holds the first ones by name; the rest is only in the publication for nodes.
    String text() {
        String all = text(namespaces, whole);
        if (bytes(all) <= MOST_BYTES) {
            return all;
        }
        SortedMap<String, String> some = new TreeMap<>();
        int left = MOST_BYTES - bytes(text(some, false));
        Iterator<Map.Entry<String, String>> each = namespaces.entrySet().iterator();
        while (each.hasNext() && left > 0) {
            Map.Entry<String, String> next = each.next();
            left -= next.getKey().length() + next.getValue().length() + "\"\",\"\",".length();
            if (left > 0) {
                some.put(next.getKey(), next.getValue());
            }
        }
        return text(some, false);
    }

    private String text(SortedMap<String, String> these, boolean all) {
        JsonObject json = JsonParser.parseString(with(these).grant().toJson()).getAsJsonObject();
        JsonArray uids = new JsonArray();
        these.values().forEach(uids::add);
        json.add(UIDS, uids);
        if (!all) {
            json.addProperty(MORE, true);
        }
        return json.toString();
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    /// Parses the output of [#text] or [Grant#toJson].
    ///
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if it is neither
    static GrantNote parse(String text) {
        Grant grant = Grant.parse(text);
        JsonObject json = JsonParser.parseString(text).getAsJsonObject();
        Iterator<JsonElement> uids = Optional.ofNullable(json.get(UIDS))
                .filter(JsonElement::isJsonArray)
                .map(JsonElement::getAsJsonArray)
                // the counts differ if an administrator added a namespace by hand; then no uid can be trusted
                .filter(array -> array.size() == grant.namespaces().size())
                .orElseGet(JsonArray::new)
                .iterator();
        SortedMap<String, String> namespaces = new TreeMap<>();
        grant.namespaces().forEach(name -> namespaces.put(name, uids.hasNext() ? uid(uids.next()) : ""));
        boolean more = Optional.ofNullable(json.get(MORE))
                .filter(JsonElement::isJsonPrimitive)
                .filter(JsonElement::getAsBoolean)
                .isPresent();
        return new GrantNote(grant.account(), namespaces, !more);
    }

    private static String uid(JsonElement value) {
        return value.isJsonPrimitive() ? value.getAsString() : "";
    }
}
