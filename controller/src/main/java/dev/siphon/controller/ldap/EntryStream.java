package dev.siphon.controller.ldap;

import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.sdk.Attribute;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchResultListener;
import com.unboundid.ldap.sdk.SearchResultReference;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import java.io.Serial;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/// Hands the entries of a search over one by one as they come, so that no page is in memory, and ends it when it
/// takes too long or has no end. What it throws goes through the SDK to whoever searches, who closes the
/// connection: that abandons the search.
@SuppressWarnings("serial") // the SDK's listeners are serializable; nobody writes one
final class EntryStream implements SearchResultListener {
    @Serial
    private static final long serialVersionUID = 1L;

    /// More entries than any directory of accounts is tested with.
    private static final int MOST_ENTRIES = 200_000;

    /// One empty page may come, from a server that left out what may not be seen (RFC 2696); more have no end.
    private static final int MOST_EMPTY_PAGES = 1;

    private final LdapConnections.Search search;
    private final Consumer<SearchResultEntry> each;
    private final LookupDeadline end;
    private final List<LdapServer> servers;
    private int count;
    private int atPageStart;
    private int emptyPages;

    EntryStream(
            LdapConnections.Search search,
            Consumer<SearchResultEntry> each,
            LookupDeadline end,
            List<LdapServer> servers) {
        this.search = search;
        this.each = each;
        this.end = end;
        this.servers = List.copyOf(servers);
    }

    @Override
    public void searchEntryReturned(SearchResultEntry entry) {
        inTime();
        if (++count > MOST_ENTRIES) {
            throw tooMuch("more than " + MOST_ENTRIES + " entries");
        }
        each.accept(entry);
    }

    @Override
    public void searchReferenceReturned(SearchResultReference elsewhere) {
        inTime();
    }

    /// A page is over.
    ///
    /// @param more whether the server says that another follows
    void pageEnded(boolean more) {
        emptyPages += count == atPageStart ? 1 : 0;
        atPageStart = count;
        if (more) {
            inTime();
            if (emptyPages > MOST_EMPTY_PAGES) {
                throw tooMuch("pages without entries and without end");
            }
        }
    }

    private void inTime() {
        if (end.passed()) {
            throw end.missed(servers, new TimeoutException());
        }
    }

    /// What to throw when the directory has more than can be used.
    DriverException.BackendFault tooMuch(String what) {
        return new DriverException.BackendFault("LDAP has " + what + " for "
                + QuotedText.of(search.filter().toString()) + " below " + QuotedText.of(search.base()));
    }

    /// About how many bytes an entry takes while it is kept: the SDK's objects for each value, and the value.
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
