package dev.siphon.node.device;

import dev.siphon.node.pod.Pod;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/// Combines two sources: a pod's devices from the kubelet, and those from its claims if the kubelet reports no GPU.
public final class ClaimedDevices implements PodDevices {
    private final PodDevices kubelet;
    private final DeviceClaims claims;
    private final Duration limit;

    /// @param limit the time limit for both together
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
            // claims may name devices that the kubelet does not report, or not yet
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
