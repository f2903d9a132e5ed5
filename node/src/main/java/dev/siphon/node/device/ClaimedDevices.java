package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// The devices of pods that the kubelet knows, and, of pods that have no GPU by that, those that their claims say.
public final class ClaimedDevices implements PodDevices {
    private final PodDevices kubelet;
    private final DeviceClaims claims;
    private final Duration limit;

    /// @param limit the time that both together may take
    public ClaimedDevices(PodDevices kubelet, DeviceClaims claims, Duration limit) {
        this.kubelet = kubelet;
        this.claims = claims;
        this.limit = limit;
    }

    @Override
    public Answer of(Pod pod) {
        long end = System.nanoTime() + limit.toNanos();
        Answer known = kubelet.of(pod);
        return switch (known) {
            case Answer.Held(var devices) ->
                devices.stream().anyMatch(HeldDevice::isGpu) ? known : with(devices, claimed(pod, end));
            // what the kubelet does not say, or does not know yet, may be in claims
            case Answer.Unknown _ ->
                claimed(pod, end) instanceof DeviceClaims.Answer.Held(var claimed) && !claimed.isEmpty()
                        ? new Answer.Held(claimed)
                        : known;
        };
    }

    private DeviceClaims.Answer claimed(Pod pod, long end) {
        return claims.of(pod, Duration.ofNanos(Math.max(0, end - System.nanoTime())));
    }

    private static Answer with(List<HeldDevice> devices, DeviceClaims.Answer claimed) {
        return switch (claimed) {
            case DeviceClaims.Answer.Held(var more) ->
                new Answer.Held(Stream.concat(devices.stream(), more.stream()).toList());
            case DeviceClaims.Answer.Refused _ -> new Answer.Held(devices);
            case DeviceClaims.Answer.Unknown(var why) ->
                devices.isEmpty() ? new Answer.Unknown(why) : new Answer.Held(devices);
        };
    }
}
