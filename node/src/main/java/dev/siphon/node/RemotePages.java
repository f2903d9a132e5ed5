package dev.siphon.node;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.server.HttpAuth;
import dev.siphon.csi.server.HttpCall;
import dev.siphon.csi.server.MetricsPage;
import dev.siphon.node.kubernetes.MetricsReaders;
import java.util.List;
import java.util.Optional;

/// What a node serves by TCP: datasets for who has the node's token, and `/metrics` for whom the cluster lets read
/// them; without a cluster, for who has the token.
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
