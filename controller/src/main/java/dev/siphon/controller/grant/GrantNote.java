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

/// An account's grant as the note on its group's directory keeps it: with the uids of the namespaces, so
/// that one that is made anew under an old name inherits nothing.
///
/// @param account the account's name
/// @param namespaces those whose pods may use its volumes, each with the beginning of its uid ([#beginning]);
///     "" where that is not known
/// @param whole whether the note has all of them
record GrantNote(String account, SortedMap<String, String> namespaces, boolean whole) {
    /// What a note may take: an MDS takes 64 KiB of all attributes of a directory
    /// (`mds_max_xattr_pairs_size`), and others are kept there as well.
    static final int MOST_BYTES = 48 << 10;

    /// Enough to tell the few namespaces apart that ever had one name.
    private static final int UID_CHARS = 8;

    private static final String UIDS = "uids";
    private static final String MORE = "more";

    GrantNote {
        namespaces = Collections.unmodifiableSortedMap(new TreeMap<>(namespaces));
    }

    /// The note of an account that is used from nowhere yet.
    static GrantNote of(String account) {
        return new GrantNote(account, new TreeMap<>(), true);
    }

    /// As much of a namespace's uid as a note keeps.
    static String beginning(String uid) {
        return uid.substring(0, Math.min(uid.length(), UID_CHARS));
    }

    /// The same with one namespace more, under the account's name of today.
    ///
    /// @param uid empty where nobody tells it
    GrantNote with(String accountNow, String namespace, Optional<String> uid) {
        SortedMap<String, String> more = new TreeMap<>(namespaces);
        more.put(namespace, uid.map(GrantNote::beginning).orElse(""));
        return new GrantNote(accountNow, more, whole);
    }

    /// The same with these namespaces in the place of its own.
    GrantNote with(SortedMap<String, String> others) {
        return new GrantNote(account, others, whole);
    }

    /// The same with what was published beside it, if the note has not all.
    GrantNote with(Optional<Grant> published) {
        if (whole || published.isEmpty()) {
            return this;
        }
        SortedMap<String, String> all = new TreeMap<>(namespaces);
        published.get().namespaces().forEach(namespace -> all.putIfAbsent(namespace, ""));
        return new GrantNote(account, all, true);
    }

    /// Whether it has this namespace, and not a former one of that name.
    ///
    /// @param uid empty where nobody tells it
    boolean has(String namespace, Optional<String> uid) {
        return Optional.ofNullable(namespaces.get(namespace))
                .filter(known -> uid.map(GrantNote::beginning).orElse(known).equals(known))
                .isPresent();
    }

    /// For nodes.
    Grant grant() {
        return new Grant(account, new TreeMap<>(namespaces).navigableKeySet());
    }

    /// The text of the note: a [Grant] that versions without uids read as well. Of more namespaces than fit,
    /// those that come first; the rest is only where nodes read it.
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

    /// Reads what [#text] wrote, or [Grant#toJson].
    ///
    /// @throws dev.siphon.csi.DriverException.BackendFault (INTERNAL) if it is something else
    static GrantNote parse(String text) {
        Grant grant = Grant.parse(text);
        JsonObject json = JsonParser.parseString(text).getAsJsonObject();
        Iterator<JsonElement> uids = Optional.ofNullable(json.get(UIDS))
                .filter(JsonElement::isJsonArray)
                .map(JsonElement::getAsJsonArray)
                // an administrator who adds a namespace by hand leaves it as it was
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
