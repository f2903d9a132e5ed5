package dev.siphon.controller.ldap;

import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.Attribute;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchResultListener;
import com.unboundid.ldap.sdk.SearchResultReference;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.Serial;
import java.util.function.Consumer;

/// Passes each entry of a search on as it arrives, so that no page is held in memory. Ends a search that exceeds
/// its limits. Its exceptions pass through the SDK to the caller, which closes the connection and
/// so abandons the search.
@SuppressWarnings("serial") // the SDK's listeners are serializable; this one is never serialized
final class EntryStream implements SearchResultListener {
    @Serial
    private static final long serialVersionUID = 1L;

    /// Larger than any directory of accounts that was tested.
    private static final int MOST_ENTRIES = 200_000;

    /// A server may send one empty page where it withheld entries (RFC 2696). More mean that the search never ends.
    private static final int MOST_EMPTY_PAGES = 1;

    private final LdapConnections.Search search;
    private final Consumer<SearchResultEntry> each;
    private int count;
    private int atPageStart;
    private int emptyPages;

    EntryStream(LdapConnections.Search search, Consumer<SearchResultEntry> each) {
        this.search = search;
        this.each = each;
    }

    @Override
    public void searchEntryReturned(SearchResultEntry entry) {
        if (++count > MOST_ENTRIES) {
            throw tooMuch("more than " + MOST_ENTRIES + " entries");
        }
        each.accept(entry);
    }

    @Override
    public void searchReferenceReturned(SearchResultReference elsewhere) {
        // referrals are not followed
    }

    /// Records the end of a page.
    ///
    /// @param more whether the server announced another page
    void pageEnded(boolean more) {
        emptyPages += count == atPageStart ? 1 : 0;
        atPageStart = count;
        if (more && emptyPages > MOST_EMPTY_PAGES) {
            throw tooMuch("endless pages without entries");
        }
    }

    /// Returns the exception for a directory that exceeds a limit.
    DriverException.BackendFault tooMuch(String what) {
        return new DriverException.BackendFault("LDAP has " + what + " for "
                + QuotedText.of(search.filter().toString()) + " below " + QuotedText.of(search.base()));
    }

    /// Returns the approximate memory of an entry in bytes: each value, with the SDK's objects for it.
    static long bytes(SearchResultEntry entry) {
        long bytes = 512;
        for (Attribute attribute : entry.getAttributes()) {
            for (ASN1OctetString value : attribute.getRawValues()) {
                bytes += 96 + value.getValueLength();
            }
        }
        return bytes;
    }
}
