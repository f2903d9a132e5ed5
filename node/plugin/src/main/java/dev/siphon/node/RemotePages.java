package dev.siphon.node;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.HttpAuth;
import dev.siphon.csi.server.HttpCall;
import dev.siphon.csi.server.MetricsPage;
import dev.siphon.node.kubernetes.MetricsReaders;
import java.util.List;
import java.util.Optional;

/// Serves datasets by TCP to clients with the node's token. Serves `/metrics` to clients that the cluster admits,
/// or, without a cluster, to those with the token.
record RemotePages(HttpCall.Pages datasets, MetricsPage metrics, HttpAuth token, Optional<MetricsReaders> readers)
        implements HttpCall.Pages, HttpAuth {
    private static final List<String> METRICS = List.of("metrics");

    @Override
    public boolean admits(HttpCall call, Optional<String> authorization) {
        if (readers.isPresent() && call.path().equals(METRICS)) {
            return HttpAuth.token(authorization).filter(readers.get()::admits).isPresent();
        }
        return token.admits(call, authorization);
    }

    @Override
    public HttpCall.Reply answer(HttpCall call) {
        if (!call.path().equals(METRICS)) {
            return datasets.answer(call);
        }
        if (!call.method().equals("GET")) {
            throw new DriverException.InvalidRequest("this takes GET, not " + call.method());
        }
        return metrics.reply();
    }
}
