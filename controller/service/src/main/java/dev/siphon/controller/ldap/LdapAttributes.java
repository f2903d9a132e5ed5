package dev.siphon.controller.ldap;

import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.Attribute;
import com.unboundid.ldap.sdk.SearchResultEntry;
import dev.siphon.csi.ByteSize;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// Reads the attributes of one entry as values. An unusable value is a fault of the directory; the error names it.
///
/// @param entry a result of a search
record LdapAttributes(SearchResultEntry entry) {
    /// The largest uid and gid of Linux; the next number means "none".
    private static final long MAX_ID = 0xFFFF_FFFEL;

    private static final int UUID_BYTES = 16;

    /// Of a part that is not the last.
    private static final Pattern RANGE = Pattern.compile(";range=[0-9]{1,9}-([0-9]{1,9})", Pattern.CASE_INSENSITIVE);

    /// Returns all values.
    List<String> texts(String attribute) {
        String @Nullable [] values = entry.getAttributeValues(attribute);
        return values == null ? List.of() : List.of(values);
    }

    /// Passes the values on one by one: a group may have too many to hold in memory twice.
    void each(String attribute, Consumer<String> each) {
        @Nullable Attribute found = entry.getAttribute(attribute);
        if (found != null) {
            each(found, each);
        }
    }

    private static void each(Attribute found, Consumer<String> each) {
        for (ASN1OctetString value : found.getRawValues()) {
            each.accept(new String(value.getValue(), StandardCharsets.UTF_8));
        }
    }

    /// Does the same for the part of the values that is here. Active Directory sends at most 1,500 values of an
    /// attribute, as `member;range=0-1499`, and the last part as `member;range=1500-*` (MS-ADTS, 3.1.1.3.1.3.3).
    ///
    /// @return where the next part begins; empty if all values were here
    OptionalLong eachOfPart(String attribute, Consumer<String> each) {
        OptionalLong next = OptionalLong.empty();
        for (Attribute found : entry.getAttributes()) {
            if (found.getBaseName().equalsIgnoreCase(attribute)) {
                each(found, each);
                Matcher range = RANGE.matcher(found.getName());
                if (range.find()) {
                    next = OptionalLong.of(Long.parseLong(range.group(1)) + 1);
                }
            }
        }
        return next;
    }

    /// Returns the only value.
    Optional<String> text(String attribute) {
        List<String> values = texts(attribute);
        if (values.size() > 1) {
            throw fault(attribute, "has " + values.size() + " values, expected one");
        }
        return values.stream().findFirst();
    }

    /// Returns a uid or gid of at least `least`, as an unsigned number.
    int id(String attribute, long least) {
        String text = text(attribute).orElseThrow(() -> fault(attribute, "is missing"));
        try {
            long number = Long.parseLong(text);
            if (number >= least && number <= MAX_ID) {
                return (int) number;
            }
        } catch (NumberFormatException notANumber) {
            // falls through to the one error for all unusable values
        }
        throw fault(attribute, QuotedText.of(text) + " is not a number from " + least + " to " + MAX_ID);
    }

    /// Returns the id that survives renaming the entry: a text (entryUUID), or a binary id of Active Directory
    /// (objectGUID, objectSid).
    String immutableId(String attribute) {
        Optional<String> text = switch (attribute.toLowerCase(Locale.ROOT)) {
            case "objectguid" -> bytes(attribute).map(this::guid);
            case "objectsid" -> bytes(attribute).map(this::sid);
            default -> text(attribute).map(it -> it.toLowerCase(Locale.ROOT));
        };
        return text.filter(it -> !it.isBlank())
                .orElseThrow(() -> fault(attribute, "is missing: may Siphon's account read it?"));
    }

    private Optional<byte[]> bytes(String attribute) {
        byte @Nullable [] value = entry.getAttributeValueBytes(attribute);
        return Optional.ofNullable(value);
    }

    /// Formats a GUID as Windows does: the first three parts are little-endian (MS-DTYP 2.3.4.2).
    private String guid(byte[] bytes) {
        if (bytes.length != UUID_BYTES) {
            throw fault("objectGUID", "has " + bytes.length + " bytes, expected " + UUID_BYTES);
        }
        ByteBuffer little = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        long first = little.getInt() & 0xFFFF_FFFFL;
        long second = little.getShort() & 0xFFFFL;
        long third = little.getShort() & 0xFFFFL;
        long high = (first << 32) | (second << 16) | third;
        long low = little.order(ByteOrder.BIG_ENDIAN).getLong();
        return new UUID(high, low).toString();
    }

    /// Formats a SID as Windows does: S-1-5-21-... (MS-DTYP 2.4.2.2).
    private String sid(byte[] bytes) {
        int header = 8;
        if (bytes.length < header || bytes.length != header + Integer.BYTES * (bytes[1] & 0xFF)) {
            throw fault("objectSid", "is not a SID: " + bytes.length + " bytes");
        }
        ByteBuffer rest = ByteBuffer.wrap(bytes);
        StringBuilder text = new StringBuilder("S-").append(bytes[0] & 0xFF);
        text.append('-').append(rest.getLong() & 0xFFFF_FFFF_FFFFL);
        rest.order(ByteOrder.LITTLE_ENDIAN);
        while (rest.hasRemaining()) {
            text.append('-').append(rest.getInt() & 0xFFFF_FFFFL);
        }
        return text.toString();
    }

    /// Returns the allowance in bytes; empty if the entry has none.
    OptionalLong allowance(Optional<String> attribute) {
        Optional<String> text = attribute.flatMap(this::text);
        if (text.isEmpty()) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(ByteSize.bytes(text.get()));
        } catch (IllegalArgumentException invalid) {
            throw fault(attribute.get(), String.valueOf(invalid.getMessage()));
        }
    }

    private DriverException.BackendFault fault(String attribute, String what) {
        return new DriverException.BackendFault(
                "LDAP entry " + QuotedText.of(entry.getDN()) + ": attribute " + attribute + " " + what);
    }
}
