package dev.siphon.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import csi.v1.VolumeCapability.AccessMode.Mode;
import dev.siphon.node.linux.Workplace;
import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Many concurrent callers, against a real Ceph: ceph-fuse in the lab, the kernel client in a guest.
class NodeConcurrencyIT {
    private static final Logger LOG = LoggerFactory.getLogger(NodeConcurrencyIT.class);
    private static final long MIB = 1 << 20;
    private static final int LIVES = Integer.getInteger("siphon.lives", 3);

    private final Workplace workplace = Workplace.create();
    private final NodeProcess node =
            NodeProcess.start(workplace.directory("node"), "--cache-dir=" + workplace.directory("cache") + "=1Gi");

    @AfterEach
    void leaveNothing() {
        node.close();
        workplace.close();
    }

    /// Returns the results of the calls, each made by its own thread.
    static <T> List<T> atOnce(List<Callable<T>> calls) throws Exception {
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

    /// Four separate volumes, and four of two datasets, which share their backing files.
    @Test
    @Tag("kernel")
    void sixtyFourCallersOfEightVolumesGetOkOrAborted() throws Exception {
        List<VolumeCallers> volumes = new ArrayList<>();
        String group = Lab.createGroup(256 * MIB);
        for (int i = 0; i < 4; i++) {
            volumes.add(callers(volumes.size(), Lab.createVolume(group, 16 * MIB), Mode.MULTI_NODE_MULTI_WRITER));
        }
        List<SealedDataset> datasets = List.of(SealedDataset.create(3), SealedDataset.create(4));
        for (SealedDataset dataset : datasets) {
            for (String claim : List.of("claim0000001", "claim0000002")) {
                volumes.add(callers(volumes.size(), dataset.volumeFor(claim), Mode.MULTI_NODE_READER_ONLY));
            }
        }
        List<Callable<Void>> lives = new ArrayList<>();
        for (VolumeCallers volume : volumes) {
            lives.add(() -> {
                for (int life = 0; life < LIVES; life++) {
                    volume.live(64 / volumes.size());
                }
                return null;
            });
        }
        atOnce(lives);
        Map<String, Long> answers = new TreeMap<>();
        volumes.forEach(
                volume -> volume.answers().forEach((answer, count) -> answers.merge(answer, count.sum(), Long::sum)));
        LOG.info("{} volumes in {} lives each: {}", volumes.size(), LIVES, answers);
        assertEquals(List.of(), workplace.mounts());
        for (SealedDataset dataset : datasets) {
            OpsPages.await(() -> dataset.devices().isEmpty());
        }
    }

    private VolumeCallers callers(int number, Lab.Volume volume, Mode mode) {
        return new VolumeCallers(node, volume, mode, workplace, "volume-" + number);
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
