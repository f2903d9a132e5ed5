package dev.siphon.e2e.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.csi.VolumeId;
import dev.siphon.e2e.driver.CsiClient;
import dev.siphon.e2e.driver.DriverFolder;
import dev.siphon.e2e.driver.LeavesNothingBehind;
import dev.siphon.e2e.driver.Outcome;
import dev.siphon.e2e.driver.Requests;
import dev.siphon.e2e.driver.ServedProcess;
import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import io.grpc.Status;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/// 64 callers on 8 names.
@ExtendWith(LeavesNothingBehind.class)
final class ConcurrencyIT {
    private static final int CALLERS = 64;
    private static final List<String> NAMES =
            IntStream.range(0, 8).mapToObj(number -> "same-" + number).toList();
    private static final Set<Status.Code> ALLOWED = EnumSet.of(Status.Code.OK, Status.Code.ABORTED);
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(20);

    @Test
    void sixtyFourCallersOnEightNamesMakeEightVolumes() {
        try (DriverFolder folder = DriverFolder.create();
                ServedProcess controller = folder.controller();
                CsiClient client = CsiClient.to(controller.endpoint());
                CephTree tree = CephTree.mount(Lab.here())) {
            Set<Status.Code> codes = ConcurrentHashMap.newKeySet();
            Map<String, Set<String>> ids = new TreeMap<>();
            NAMES.forEach(name -> ids.put(name, ConcurrentHashMap.newKeySet()));

            everyoneUntilOk(
                            codes,
                            (name, _) -> Outcome.of(() -> client.controller()
                                    .createVolume(Requests.volume(name, "u1", Requests.GIB))
                                    .getVolume()
                                    .getVolumeId()))
                    .forEach((name, found) -> ids.getOrDefault(name, Set.of()).addAll(found));

            Set<String> all = new TreeSet<>();
            ids.values().forEach(all::addAll);
            assertTrue(ALLOWED.containsAll(codes), "codes: " + codes);
            ids.forEach((name, found) -> assertEquals(1, found.size(), "ids of " + name + ": " + found));
            assertEquals(NAMES.size(), all.size());
            String group = ((VolumeId.Provisioned) VolumeId.parse(all.iterator().next())).group();
            assertEquals(NAMES.size(), tree.subvolumes(group).size());

            everyoneUntilOk(
                    codes,
                    (name, _) -> Outcome.of(() -> client.controller()
                            .deleteVolume(Requests.delete(
                                    ids.getOrDefault(name, Set.of()).iterator().next()))
                            .toString()));

            assertTrue(ALLOWED.containsAll(codes), "codes: " + codes);
            assertEquals(List.of(), tree.subvolumes(group));
        }
    }

    @Test
    void creatingAndDeletingTheSameNamesAtOnceLeavesWhatTheLastCallMade() {
        try (DriverFolder folder = DriverFolder.create();
                ServedProcess controller = folder.controller();
                CsiClient client = CsiClient.to(controller.endpoint());
                CephTree tree = CephTree.mount(Lab.here())) {
            Set<Status.Code> codes = ConcurrentHashMap.newKeySet();
            Map<String, String> ids = new ConcurrentHashMap<>();
            for (String name : NAMES) {
                ids.put(name, create(client, name).get());
            }

            everyoneUntilOk(
                    codes,
                    (name, caller) -> caller % 2 == 0
                            ? create(client, name)
                            : Outcome.of(() -> client.controller()
                                    .deleteVolume(Requests.delete(ids.getOrDefault(name, "")))
                                    .toString()));
            assertTrue(ALLOWED.containsAll(codes), "codes: " + codes);

            for (String name : NAMES) {
                assertEquals(ids.get(name), create(client, name).get());
            }
            String group = ((VolumeId.Provisioned) VolumeId.parse(ids.getOrDefault(NAMES.getFirst(), ""))).group();
            assertEquals(NAMES.size(), tree.subvolumes(group).size());
            ids.values().forEach(id -> client.controller().deleteVolume(Requests.delete(id)));
            assertEquals(List.of(), tree.subvolumes(group));
        }
    }

    private static Outcome<String> create(CsiClient client, String name) {
        return Outcome.of(() -> client.controller()
                .createVolume(Requests.volume(name, "u1", Requests.GIB))
                .getVolume()
                .getVolumeId());
    }

    /// Each caller makes its call for every name and retries on ABORTED; each starts with another name.
    ///
    /// @param codes collects every code that a caller got
    /// @return the replies by name
    private static Map<String, Set<String>> everyoneUntilOk(
            Set<Status.Code> codes, BiFunction<String, Integer, Outcome<String>> call) {
        Map<String, Set<String>> answers = new ConcurrentHashMap<>();
        Callers.atOnce(CALLERS, caller -> {
            for (int i = 0; i < NAMES.size(); i++) {
                String name = NAMES.get((caller + i) % NAMES.size());
                Outcome<String> outcome = call.apply(name, caller);
                codes.add(outcome.code());
                while (outcome.code() == Status.Code.ABORTED) {
                    Await.pass(BETWEEN_TRIES);
                    outcome = call.apply(name, caller);
                    codes.add(outcome.code());
                }
                outcome.response()
                        .ifPresent(answer -> answers.computeIfAbsent(name, _ -> ConcurrentHashMap.newKeySet())
                                .add(answer));
            }
        });
        return answers;
    }
}
