package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;

/// A pod that writes an ascending number to its volume five times a second and logs it. It stops writing after the
/// first failed write.
record BeatingPod(TestPod pod) {
    /// The pod stays after a failed write, because the kubelet checks the volumes of running pods only.
    private static final String SCRIPT = """
            grep " /data " /proc/mounts; n=0
            while n=$((n+1)); echo beat $n >>/data/beats; do echo beat $n; sleep 0.2; done
            echo a write failed; sleep 600""";

    private static final Pattern BEAT = Pattern.compile("(?m)^(\\S+) beat ([0-9]+)$");

    /// Starts one on a node.
    static BeatingPod start(Tenant tenant, String claim, String node) {
        return new BeatingPod(
                tenant.pod("heart", SCRIPT).withClaim(claim).on(node).create().ready());
    }

    /// Returns the last number that it logged.
    long beat() {
        return Long.parseLong(pod.lastLine().replace("beat ", ""));
    }

    /// Waits until it logs a later number.
    void goesOn() {
        long before = beat();
        var _ = Await.until("a beat after " + before, Duration.ofSeconds(30), () -> beat() > before);
    }

    /// Returns the longest time between two log lines from `beat` on.
    Duration longestPause(long beat) {
        List<Instant> times = BEAT.matcher(pod.resource().usingTimestamps().getLog())
                .results()
                .filter(each -> Long.parseLong(each.group(2)) >= beat)
                .map(each -> Instant.parse(each.group(1)))
                .toList();
        Duration longest = Duration.ZERO;
        for (int i = 1; i < times.size(); i++) {
            Duration pause = Duration.between(times.get(i - 1), times.get(i));
            longest = pause.compareTo(longest) > 0 ? pause : longest;
        }
        return longest;
    }
}
