package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/// Many callers at once, with a real Ceph: in the lab with ceph-fuse, in a guest with the kernel's client.
class NodeConcurrencyIT {
    private static final long MIB = 1 << 20;

    private final Workplace workplace = Workplace.create();
    private final NodeProcess node = NodeProcess.start(workplace.directory("node"));

    @AfterEach
    void leaveNothing() {
        node.close();
        workplace.close();
    }

    private static <T> List<T> atOnce(List<Callable<T>> calls) throws Exception {
        List<T> results = new ArrayList<>();
        try (ExecutorService callers = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Future<T> call : callers.invokeAll(calls)) {
                results.add(call.get());
            }
        }
        return results;
    }

    @Test
    void sixteenVolumesDoNotWaitForEachOther() throws Exception {
        String group = Lab.createGroup(1024 * MIB);
        List<Callable<String>> lives = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            Lab.Volume volume = Lab.createVolume(group, 16 * MIB);
            Path staging = workplace.directory("staging" + i);
            Path target = workplace.directory("pod" + i).resolve("target");
            String text = "volume " + i;
            lives.add(() -> {
                node.stub().nodeStageVolume(Requests.stage(volume, staging));
                node.stub().nodePublishVolume(Requests.publish(volume, staging, target));
                Files.writeString(target.resolve("name"), text);
                String read = Files.readString(staging.resolve("name"));
                node.stub().nodeUnpublishVolume(Requests.unpublish(volume, target));
                node.stub().nodeUnstageVolume(Requests.unstage(volume, staging));
                return read.equals(text) ? "" : text + " reads " + read;
            });
        }
        assertEquals(Set.of(""), Set.copyOf(atOnce(lives)));
        assertEquals(List.of(), workplace.mounts());
    }

    @Test
    void manyCallsForOneVolumeEndInOneMountOrAborted() throws Exception {
        Lab.Volume volume = Lab.createVolume(Lab.createGroup(64 * MIB), 16 * MIB);
        Path staging = workplace.directory("staging");
        Path target = workplace.directory("pod").resolve("target");
        Set<Code> codes = codes(() -> node.stub().nodeStageVolume(Requests.stage(volume, staging)));
        assertTrue(EnumSet.of(Code.OK, Code.ABORTED).containsAll(codes), codes::toString);
        codes = codes(() -> node.stub().nodePublishVolume(Requests.publish(volume, staging, target)));
        assertTrue(EnumSet.of(Code.OK, Code.ABORTED).containsAll(codes), codes::toString);
        assertEquals(
                2,
                workplace.mounts().stream()
                        .filter(point -> !point.contains("/mounts/"))
                        .count());
        codes = codes(() -> node.stub().nodeUnpublishVolume(Requests.unpublish(volume, target)));
        assertTrue(EnumSet.of(Code.OK, Code.ABORTED).containsAll(codes), codes::toString);
        codes = codes(() -> node.stub().nodeUnstageVolume(Requests.unstage(volume, staging)));
        assertTrue(EnumSet.of(Code.OK, Code.ABORTED).containsAll(codes), codes::toString);
        assertEquals(List.of(), workplace.mounts());
        assertEquals(List.of(), Lab.clientsOf(volume.id()));
    }

    private static Set<Code> codes(Runnable call) throws Exception {
        List<Callable<Code>> calls = new ArrayList<>();
        for (int i = 0; i < 24; i++) {
            calls.add(() -> {
                try {
                    call.run();
                    return Code.OK;
                } catch (StatusRuntimeException e) {
                    return e.getStatus().getCode();
                }
            });
        }
        List<Code> codes = atOnce(calls);
        assertTrue(codes.contains(Code.OK), codes::toString);
        return EnumSet.copyOf(codes);
    }
}
