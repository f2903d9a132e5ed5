package dev.siphon.controller.ldap;

import com.unboundid.asn1.ASN1OctetString;
import com.unboundid.ldap.listener.CannedResponseRequestHandler;
import com.unboundid.ldap.listener.LDAPListener;
import com.unboundid.ldap.listener.LDAPListenerClientConnection;
import com.unboundid.ldap.listener.LDAPListenerConfig;
import com.unboundid.ldap.listener.LDAPListenerRequestHandler;
import com.unboundid.ldap.protocol.AddRequestProtocolOp;
import com.unboundid.ldap.protocol.BindRequestProtocolOp;
import com.unboundid.ldap.protocol.CompareRequestProtocolOp;
import com.unboundid.ldap.protocol.DeleteRequestProtocolOp;
import com.unboundid.ldap.protocol.ExtendedRequestProtocolOp;
import com.unboundid.ldap.protocol.LDAPMessage;
import com.unboundid.ldap.protocol.ModifyDNRequestProtocolOp;
import com.unboundid.ldap.protocol.ModifyRequestProtocolOp;
import com.unboundid.ldap.protocol.SearchRequestProtocolOp;
import com.unboundid.ldap.protocol.SearchResultDoneProtocolOp;
import com.unboundid.ldap.sdk.Control;
import com.unboundid.ldap.sdk.Entry;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.controls.SimplePagedResultsControl;
import java.io.IOException;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// An LDAP server that accepts every bind, and replies to searches as a test defines.
final class HandmadeServer implements AutoCloseable {
    private final CountDownLatch closed = new CountDownLatch(1);
    private final LDAPListener listener;

    /// The reply to a search.
    @FunctionalInterface
    interface Answer {
        /// Sends the entries, and returns the cookie for the next page, or "" if there is none.
        String to(Asked asked) throws LDAPException;
    }

    /// A search that waits for its reply.
    record Asked(int id, SearchRequestProtocolOp search, LDAPListenerClientConnection by) {
        void send(Entry entry) throws LDAPException {
            by.sendSearchResultEntry(id, entry);
        }
    }

    HandmadeServer(Answer answer) throws IOException {
        Handler handler = new Handler(answer, new CannedResponseRequestHandler(), Optional.empty());
        LDAPListenerConfig config = new LDAPListenerConfig(0, handler);
        config.setListenAddress(InetAddress.getLoopbackAddress());
        listener = new LDAPListener(config);
        listener.startListening();
    }

    LdapServer address() {
        return new LdapServer("127.0.0.1", listener.getListenPort(), LdapServer.Protection.NONE);
    }

    /// Sends the entry repeatedly, about 50 times per second, until the client disconnects.
    void trickle(Asked asked, Entry entry) throws LDAPException {
        try {
            do {
                asked.send(entry);
            } while (!closed.await(20, TimeUnit.MILLISECONDS));
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        closed.countDown();
        listener.shutDown(true);
    }

    private static final class Handler extends LDAPListenerRequestHandler {
        private final Answer answer;
        private final LDAPListenerRequestHandler others;
        private final Optional<LDAPListenerClientConnection> by;

        Handler(Answer answer, LDAPListenerRequestHandler others, Optional<LDAPListenerClientConnection> by) {
            this.answer = answer;
            this.others = others;
            this.by = by;
        }

        @Override
        public LDAPListenerRequestHandler newInstance(LDAPListenerClientConnection connection) throws LDAPException {
            return new Handler(answer, others.newInstance(connection), Optional.of(connection));
        }

        @Override
        public LDAPMessage processSearchRequest(int id, SearchRequestProtocolOp search, List<Control> controls) {
            try {
                String cookie = answer.to(new Asked(id, search, by.orElseThrow()));
                return new LDAPMessage(
                        id,
                        new SearchResultDoneProtocolOp(ResultCode.SUCCESS_INT_VALUE, null, null, List.of()),
                        new SimplePagedResultsControl(0, new ASN1OctetString(cookie)));
            } catch (LDAPException gone) {
                return new LDAPMessage(
                        id, new SearchResultDoneProtocolOp(gone.getResultCode().intValue(), null, null, List.of()));
            }
        }

        @Override
        public LDAPMessage processBindRequest(int id, BindRequestProtocolOp request, List<Control> controls) {
            return others.processBindRequest(id, request, controls);
        }

        @Override
        public LDAPMessage processAddRequest(int id, AddRequestProtocolOp request, List<Control> controls) {
            return others.processAddRequest(id, request, controls);
        }

        @Override
        public LDAPMessage processCompareRequest(int id, CompareRequestProtocolOp request, List<Control> controls) {
            return others.processCompareRequest(id, request, controls);
        }

        @Override
        public LDAPMessage processDeleteRequest(int id, DeleteRequestProtocolOp request, List<Control> controls) {
            return others.processDeleteRequest(id, request, controls);
        }

        @Override
        public LDAPMessage processExtendedRequest(int id, ExtendedRequestProtocolOp request, List<Control> controls) {
            return others.processExtendedRequest(id, request, controls);
        }

        @Override
        public LDAPMessage processModifyRequest(int id, ModifyRequestProtocolOp request, List<Control> controls) {
            return others.processModifyRequest(id, request, controls);
        }

        @Override
        public LDAPMessage processModifyDNRequest(int id, ModifyDNRequestProtocolOp request, List<Control> controls) {
            return others.processModifyDNRequest(id, request, controls);
        }
    }
}
