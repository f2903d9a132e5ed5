package dev.siphon.controller.volume;

import static dev.siphon.controller.volume.World.GIB;
import static dev.siphon.controller.volume.World.filledFrom;
import static dev.siphon.controller.volume.World.request;
import static dev.siphon.controller.volume.World.sized;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.VolumeClass.MutableParameters;
import dev.siphon.controller.volume.VolumeRequest.CapacityRange;
import dev.siphon.controller.volume.VolumeRequest.ContentSource;
import dev.siphon.controller.volume.Volumes.Volume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeContext;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

final class HomesTest {
    private static final Map<String, String> HOME = Map.of("kind", "home");

    private final World world = new World();

    private Volume alias(String name) {
        return world.domain.volumes().create(request(name, HOME));
    }

    private static VolumeId.Provisioned home(Volume alias) {
        return Homes.behind((VolumeId.Provisioned) alias.id());
    }

    private static VolumeContext context(Volume volume) {
        return volume.context().orElseThrow();
    }

    @Test
    void twoVolumesOfOneAccountAreOneHome() {
        Volume first = alias("pvc-1");
        Volume second = alias("pvc-2");
        assertNotEquals(first.id(), second.id());
        assertEquals(context(first), context(second));
        assertEquals(home(first).subvolume(), context(first).dataPath().orElseThrow());
        assertEquals(Set.of(first.id(), second.id()), world.keys);
        assertEquals(first, alias("pvc-1"));
        assertEquals(GIB, world.domain.volumes().get(home(first)).capacityBytes());
    }

    @Test
    void anotherAccountHasAnotherHome() {
        Volume mine = alias("pvc-1");
        Volume other = world.domain.volumes().create(request("pvc-1", Map.of("kind", "home", "owner", "u2")));
        assertNotEquals(
                context(mine).mountPath() + context(mine).dataPath(),
                context(other).mountPath() + context(other).dataPath());
    }

    @Test
    void theHomeStaysWhenItsVolumesGo() {
        Volume alias = alias("pvc-1");
        world.ceph.write(home(alias), "file", "kept");
        world.domain.volumes().delete(alias.id());
        assertEquals(Set.of(), world.keys);
        assertThrows(
                DriverException.NotFound.class, () -> world.domain.volumes().get(alias.id()));
        assertEquals(home(alias), home(alias("pvc-2")));
        assertEquals(Map.of("file", "kept"), world.ceph.files(home(alias)));
    }

    @Test
    void sizeIsThatOfTheHomeAndGrowsWithWhoAsksForMore() {
        Volume first = alias("pvc-1");
        Volume larger = world.domain.volumes().create(sized(new CapacityRange(3 * GIB, 0), request("pvc-2", HOME)));
        assertEquals(3 * GIB, larger.capacityBytes());
        assertEquals(3 * GIB, world.domain.volumes().get(first.id()).capacityBytes());
        assertEquals(3 * GIB, alias("pvc-1").capacityBytes());
        assertEquals(5 * GIB, world.domain.volumes().expand(first.id(), new CapacityRange(5 * GIB, 0)));
        assertEquals(5 * GIB, world.domain.volumes().get(larger.id()).capacityBytes());
        VolumeRequest tooLarge = sized(new CapacityRange(GIB, 2 * GIB), request("pvc-3", HOME));
        assertThrows(DriverException.IncompatibleExisting.class, () -> world.create(tooLarge));
    }

    @Test
    void aRefusedVolumeDoesNotGrowTheHome() {
        Volume first = alias("pvc-1");
        CapacityRange more = new CapacityRange(3 * GIB, 0);
        for (Map<String, String> other :
                List.of(Map.of("quotaFiles", "5"), Map.of("uid", "77"), Map.of("dataPool", "fast"))) {
            Map<String, String> parameters = new HashMap<>(other);
            parameters.putAll(HOME);
            VolumeRequest refused = sized(more, request("pvc-2", parameters));
            assertThrows(DriverException.IncompatibleExisting.class, () -> world.create(refused), other.toString());
            assertEquals(GIB, world.domain.volumes().get(first.id()).capacityBytes(), other.toString());
        }
        world.restart((call, make) -> {
            if (call.method().equals("allow")) {
                throw new DriverException.QuotaExhausted("too many grants");
            }
            return make.get();
        });
        Map<String, String> claimed = new HashMap<>(HOME);
        claimed.put("csi.storage.k8s.io/pvc/namespace", "team");
        assertThrows(DriverException.QuotaExhausted.class, () -> world.create(sized(more, request("pvc-2", claimed))));
        assertEquals(GIB, world.domain.volumes().get(first.id()).capacityBytes());
    }

    @Test
    void aHomeThatGrewForARefusedVolumeGetsItsFormerSizeBack() {
        world.directory.put(new Account("u1", "id-1", 10_001, 10_001, Set.of("u1"), OptionalLong.of(4 * GIB)));
        var _ = alias("pvc-1");
        List<String> before = world.ceph.everything();
        for (boolean after : List.of(false, true)) {
            AtomicBoolean refused = new AtomicBoolean();
            world.restart((call, make) -> {
                if (!call.method().equals("create") || refused.getAndSet(true)) {
                    return make.get();
                }
                if (after) {
                    var _ = make.get();
                }
                throw new DriverException.AccessDenied("no");
            });
            assertThrows(
                    DriverException.AccessDenied.class,
                    () -> world.create(sized(new CapacityRange(3 * GIB, 0), request("pvc-2", HOME))));
            assertEquals(before, world.ceph.everything(), "refused after its effect: " + after);
        }
        world.create(sized(new CapacityRange(3 * GIB, 0), request("pvc-3")));
    }

    @Test
    void aHomeThatCannotShrinkAgainMakesTheCallerRetry() {
        var _ = alias("pvc-1");
        List<String> calls = new ArrayList<>();
        world.restart((call, make) -> {
            calls.add(call.method());
            if (call.method().equals("create")) {
                throw new DriverException.AccessDenied("no");
            }
            if (Collections.frequency(calls, "resize") == 2) {
                throw new DriverException.BackendUnavailable("the mgr is gone");
            }
            return make.get();
        });
        VolumeRequest larger = sized(new CapacityRange(3 * GIB, 0), request("pvc-2", HOME));
        DriverException.BackendUnavailable again =
                assertThrows(DriverException.BackendUnavailable.class, () -> world.create(larger));
        assertTrue(String.valueOf(again.getMessage()).contains("the mgr is gone"), again.getMessage());
    }

    @Test
    void aNameIsOfOneKindOnly() {
        var _ = alias("pvc-1");
        assertThrows(DriverException.IncompatibleExisting.class, () -> world.create(request("pvc-1")));
        world.create(request("pvc-2"));
        assertThrows(DriverException.IncompatibleExisting.class, () -> alias("pvc-2"));
    }

    @Test
    void whatWouldTouchOthersIsRefused() {
        VolumeId.Provisioned alias = (VolumeId.Provisioned) alias("pvc-1").id();
        MutableParameters mode = new MutableParameters(OptionalLong.empty(), OptionalInt.of(0755));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.volumes().modify(alias, mode));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.domain.snapshots().create(alias, "snap"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.create(filledFrom(new ContentSource.FromVolume(alias), request("copy"))));
        VolumeId.Provisioned source = world.create(request("source"));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> world.create(filledFrom(new ContentSource.FromVolume(source), request("pvc-2", HOME))));
        world.snapshot(Homes.behind(alias), "by-an-administrator");
    }

    @Test
    void aHomeIsRemovedOnlyOnPurposeAndWhenNobodyUsesIt() {
        Volume alias = alias("pvc-1");
        VolumeId.Provisioned home = home(alias);
        Volumes volumes = world.domain.volumes();
        assertThrows(DriverException.InUse.class, () -> volumes.delete(home));
        assertThrows(DriverException.InUse.class, () -> volumes.delete(home, home.toString()));
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> volumes.delete(alias.id(), alias.id().toString()));
        volumes.delete(alias.id());
        world.restart();
        world.domain.volumes().delete(home, home.toString());
        assertThrows(
                DriverException.NotFound.class, () -> world.domain.volumes().get(home));
        world.domain.volumes().delete(home, home.toString());
    }

    @Test
    void aHomeIsRemovedWithItsOnlyVolumeOrNothingIs() {
        Volume alias = alias("pvc-1");
        Volume other = alias("pvc-2");
        world.ceph.write(home(alias), "file", "kept");
        Volumes volumes = world.domain.volumes();
        VolumeId.Provisioned id = (VolumeId.Provisioned) alias.id();
        DriverException.InUse refused = assertThrows(
                DriverException.InUse.class,
                () -> volumes.delete(id, home(alias).toString()));
        assertTrue(String.valueOf(refused.getMessage()).contains(other.id().toString()), refused.getMessage());
        assertEquals(Set.of(alias.id(), other.id()), world.keys);
        assertEquals(GIB, volumes.get(id).capacityBytes());
        assertEquals(Map.of("file", "kept"), world.ceph.files(home(alias)));
        assertThrows(
                DriverException.InUse.class,
                () -> volumes.delete(home(alias), home(alias).toString()));
        volumes.delete(other.id());
        for (int time = 0; time < 2; time++) {
            volumes.delete(id, home(alias).toString());
            assertEquals(Set.of(), world.keys);
            for (VolumeId gone : List.of(id, home(alias))) {
                assertThrows(DriverException.NotFound.class, () -> volumes.get(gone));
            }
        }
    }

    @Test
    void healthIsThatOfTheHome() {
        VolumeId.Provisioned alias = (VolumeId.Provisioned) alias("pvc-1").id();
        assertEquals(List.of(), world.domain.health().of(alias).troubles());
        world.ceph.ports().subvolumes().remove(Homes.behind(alias));
        assertTrue(world.domain.health().of(alias).troubles().stream()
                .anyMatch(trouble -> trouble.reason().equals("HomeMissing")));
    }

    @Test
    void roundTrips() {
        List<String> calls = new ArrayList<>();
        world.restart((call, make) -> {
            // the client caches a group's notes as long as nobody changes them
            if (!call.method().equals("note")) {
                calls.add(call.method());
            }
            return make.get();
        });
        var _ = alias("pvc-1");
        assertEquals(List.of("list", "createGroup", "setNote", "create", "create"), calls);
        calls.clear();
        var _ = alias("pvc-2");
        assertEquals(List.of("find", "create"), calls);
        calls.clear();
        var _ = alias("pvc-2");
        assertEquals(List.of("find", "find"), calls);
        Map<String, String> limited = Map.of("kind", "home", "owner", "u2", "quotaFiles", "5");
        world.create(request("pvc-3", limited));
        calls.clear();
        world.create(sized(new CapacityRange(3 * GIB, 0), request("pvc-4", limited)));
        assertEquals(List.of("find", "quotaFiles", "resize", "create"), calls);
    }
}
