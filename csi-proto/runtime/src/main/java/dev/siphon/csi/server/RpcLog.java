package dev.siphon.csi.server;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/// Logs one line per RPC: method, ids in the request, code, duration, and the error's message if there is one.
/// Probe is logged at DEBUG, since a kubelet sends it every few seconds. Request bodies, without secrets, are
/// logged at DEBUG too.
public final class RpcLog implements ServerInterceptor {
    private static final Logger LOG = LoggerFactory.getLogger(RpcLog.class);
    private static final int MAX_ID_CHARS = 256;

    /// The fields that identify a request's object; none is secret.
    private static final List<String> NAMES = List.of(
            "name",
            "volume_id",
            "source_volume_id",
            "snapshot_id",
            "group_snapshot_id",
            "node_id",
            "staging_target_path",
            "target_path",
            "volume_path");

    @Override
    public <Q, R> ServerCall.Listener<Q> interceptCall(
            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
        return ObservedCall.start(call, headers, next, new Line(ObservedCall.method(call)));
    }

    private static final class Line implements ObservedCall.Observer {
        private final String method;
        private final long startNanos = System.nanoTime();
        private LoggingEventBuilder event;

        Line(String method) {
            this.method = method;
            event = LOG.atLevel(method.equals("Probe") ? Level.DEBUG : Level.INFO)
                    .addKeyValue("method", method);
        }

        @Override
        public void request(Object request) {
            if (!(request instanceof Message message)) {
                return;
            }
            for (String name : NAMES) {
                FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
                if (field != null && message.getField(field) instanceof String text && !text.isEmpty()) {
                    event = event.addKeyValue(
                            name, text.length() > MAX_ID_CHARS ? text.substring(0, MAX_ID_CHARS) : text);
                }
            }
            if (LOG.isDebugEnabled()) {
                LOG.atDebug()
                        .addKeyValue("method", method)
                        .addKeyValue("request", Redaction.json(message))
                        .log("request");
            }
        }

        @Override
        public void end(Status status) {
            Duration duration = Duration.ofNanos(System.nanoTime() - startNanos);
            event = event.addKeyValue("code", status.getCode().name()).addKeyValue("duration_ms", duration.toMillis());
            String description = status.getDescription();
            if (description != null) {
                event = event.addKeyValue("error", description);
            }
            event.log("rpc");
        }
    }
}
