package dev.siphon.e2e.kubernetes;

import dev.siphon.e2e.lab.Await;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.regex.Pattern;

/// A pod that writes a number to its volume five times a second, each greater by one, and says so; a write that fails
/// is its last.
record BeatingPod(TestPod pod) {
    /// The pod stays after a failed write, since the kubelet asks after the volumes of pods that run.
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

    /// The last number that it has said.
    long beat() {
        return Long.parseLong(pod.lastLine().replace("beat ", ""));
    }

    /// Waits until it has said a later one than now.
    void goesOn() {
        long before = beat();
        var _ = Await.until("a beat after " + before, Duration.ofSeconds(30), () -> beat() > before);
    }

    /// The longest time between two lines from `beat` on, by the container's log.
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
