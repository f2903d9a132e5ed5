package dev.siphon.controller.volume;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;

/// A driver over a Ceph in memory, with two accounts.
final class World {
    static final long GIB = 1L << 30;

    final InMemoryCeph ceph;
    final InMemoryDirectory directory = directory();
    final AtomicReference<Duration> timeLeft = new AtomicReference<>(Duration.ofSeconds(30));
    /// Volumes with a key.
    final Set<VolumeId.Provisioned> keys = ConcurrentHashMap.newKeySet();

    /// Volumes that may be gone.
    final Set<VolumeId.Provisioned> leaving = ConcurrentHashMap.newKeySet();

    ControllerDomain domain;

    World() {
        ceph = new InMemoryCeph();
        domain = over(ceph.ports(), AccountAccess.NONE);
    }

    private ControllerDomain over(CephPorts ports, AccountAccess access) {
        return ControllerDomain.over(
                ports,
                new Owners(directory, Optional.empty(), Optional.empty()),
                new Callers(keys(), access),
                timeLeft::get);
    }

    private KeyMinting keys() {
        return new KeyMinting() {
            @Override
            public void made(VolumeId.Provisioned volume, VolumeContext context, String name) {
                keys.add(volume);
            }

            @Override
            public void leaving(VolumeId.Provisioned volume) {
                leaving.add(volume);
            }

            @Override
            public void removed(VolumeId.Provisioned volume) {
                keys.remove(volume);
                leaving.remove(volume);
            }
        };
    }

    /// Returns a directory with the accounts u1 (10001) and u2 (10002).
    static InMemoryDirectory directory() {
        Map<String, Account> accounts = Map.of(
                "u1", new Account("u1", "id-1", 10_001, 10_001, Set.of("u1"), OptionalLong.empty()),
                "u2", new Account("u2", "id-2", 10_002, 10_002, Set.of("u2"), OptionalLong.empty()));
        return new InMemoryDirectory(accounts);
    }

    /// Restarts the controller, which loses its memory.
    void restart() {
        domain = over(ceph.ports(), AccountAccess.NONE);
    }

    /// Restarts like [#restart], with an interceptor between the driver and Ceph.
    void restart(InterceptedPorts.Interceptor interceptor) {
        AccountAccess access = (group, account, namespace) -> {
            Object _ = interceptor.around(
                    new InterceptedPorts.Call("allow", List.of(group, account, namespace)), () -> true);
        };
        domain = over(InterceptedPorts.of(ceph.ports(), interceptor), access);
    }

    /// Returns the request for a volume of 1 GiB for u1.
    static VolumeRequest request(String name) {
        return request(name, Map.of());
    }

    /// Returns the request for a volume of 1 GiB for u1, unless the parameters name another owner.
    static VolumeRequest request(String name, Map<String, String> parameters) {
        Map<String, String> all = new java.util.HashMap<>(parameters);
        all.putIfAbsent("owner", "u1");
        return new VolumeRequest(name, new CapacityRange(GIB, 0), ClassParameters.parse(all), false, Optional.empty());
    }

    /// Returns the same request with content.
    static VolumeRequest filledFrom(ContentSource source, VolumeRequest request) {
        return new VolumeRequest(
                request.name(), request.capacity(), request.parameters(), request.readOnly(), Optional.of(source));
    }

    /// Returns the same request with another size.
    static VolumeRequest sized(CapacityRange capacity, VolumeRequest request) {
        return new VolumeRequest(request.name(), capacity, request.parameters(), request.readOnly(), request.source());
    }

    /// Returns the same request as read-only.
    static VolumeRequest readOnly(VolumeRequest request) {
        return new VolumeRequest(request.name(), request.capacity(), request.parameters(), true, request.source());
    }

    /// Returns a valid id of no existing volume.
    static VolumeId.Provisioned unused() {
        return new VolumeId.Provisioned(InMemoryCeph.CLUSTER, InMemoryCeph.FILE_SYSTEM, "a", "v");
    }

    VolumeId.Provisioned create(VolumeRequest request) {
        return (VolumeId.Provisioned) domain.volumes().create(request).id();
    }

    /// Creates a volume of u1 with one file.
    VolumeId.Provisioned volumeWithFile(String name) {
        VolumeId.Provisioned made = create(request(name));
        ceph.write(made, "file", "contents of " + name);
        return made;
    }

    SnapshotId snapshot(VolumeId.Provisioned volume, String name) {
        return domain.snapshots().create(volume, name).id();
    }
}
