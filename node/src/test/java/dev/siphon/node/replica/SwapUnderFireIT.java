package dev.siphon.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.Programs;
import dev.siphon.node.Workplace;
import dev.siphon.node.linux.DataFile;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is behind a tree changes to and fro while it is read in every way there is. `-Dsiphon.swaps=200` makes 200
/// swaps each way under at least 20,000 reads; by default it is a tenth of that.
class SwapUnderFireIT {
    private static final Logger LOG = LoggerFactory.getLogger(SwapUnderFireIT.class);
    private static final int SWAPS = Integer.getInteger("siphon.swaps", 20);
    private static final long READS = 100L * SWAPS;
    private static final int FILE_BYTES = 100_000;

    private final Workplace workplace = Workplace.create();
    private final TestDataset dataset = TestDataset.create(workplace, "one", 300, FILE_BYTES);
    private final AttachmentKey key = AttachmentKey.anywhere(dataset.digest());
    private final Attachments attachments = new Attachments(new AttachmentFolders(workplace.path("state")), erofs());
    private final AtomicLong reads = new AtomicLong();
    private final Queue<String> wrong = new ConcurrentLinkedQueue<>();
    private volatile boolean over;

    /// What reads the image.
    ErofsSelection erofs() {
        return ErofsSelection.ofThisNode();
    }

    @AfterEach
    void close() {
        workplace.close();
        ReplicaNode.awaitNoDevice(dataset.digest());
    }

    private interface Reader {
        boolean isRight(Path tree, String name) throws IOException;
    }

    @Test
    void noReaderNoticesASwap() throws IOException {
        Path replica = workplace.path("replica");
        Files.copy(dataset.image().image(), replica);
        Path tree = attachments.attach(key, dataset.image(), dataset.manifest()).tree();
        List<Thread> readers = List.of(
                reader(tree, this::buffered),
                reader(tree, this::direct),
                reader(tree, this::mapped),
                reader(tree, SwapUnderFireIT::executed),
                start(this::forget));
        int swaps = 0;
        while (wrong.isEmpty() && (swaps < SWAPS || reads.get() < READS)) {
            swap(replica);
            swap(dataset.image().image());
            swaps++;
        }
        over = true;
        readers.forEach(SwapUnderFireIT::join);
        LOG.info("{} swaps each way under {} reads, {} wrong", swaps, reads.get(), wrong.size());
        assertEquals(List.of(), List.copyOf(wrong));
        attachments.detach(key);
    }

    private void swap(Path file) {
        long before = reads.get();
        Attached now = attachments.swap(key, file, Optional.empty());
        assertTrue(now.device().directIo());
        assertTrue(now.device().readOnly());
        ReplicaNode.await(() -> "a read", () -> reads.get() > before + 2 || !wrong.isEmpty());
    }

    private Thread reader(Path tree, Reader reader) {
        return start(() -> {
            String name = dataset.names()
                    .get(ThreadLocalRandom.current().nextInt(dataset.names().size()));
            try {
                if (!reader.isRight(tree, name)) {
                    wrong.add(name);
                }
                reads.incrementAndGet();
            } catch (IOException | RuntimeException e) {
                wrong.add(name + ": " + e);
            }
        });
    }

    private Thread start(Runnable once) {
        return Thread.ofPlatform().start(() -> {
            while (!over) {
                once.run();
            }
        });
    }

    private static void join(Thread thread) {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean buffered(Path tree, String name) throws IOException {
        return dataset.isRight(name, ByteBuffer.wrap(Files.readAllBytes(tree.resolve(name))));
    }

    private boolean direct(Path tree, String name) {
        try (Arena arena = Arena.ofConfined();
                DataFile file = DataFile.openDirect(tree.resolve(name))) {
            MemorySegment buffer = arena.allocate(Math.ceilDiv(file.size(), 4096) * 4096, DataFile.ALIGNMENT);
            long read = file.read(0, buffer);
            return file.isDirect()
                    && dataset.isRight(name, buffer.asSlice(0, read).asByteBuffer());
        }
    }

    private boolean mapped(Path tree, String name) throws IOException {
        try (Arena arena = Arena.ofConfined();
                FileChannel file = FileChannel.open(tree.resolve(name))) {
            return dataset.isRight(
                    name,
                    file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena)
                            .asByteBuffer());
        }
    }

    private static boolean executed(Path tree, String name) {
        return Programs.run(tree.resolve("program").toString(), name).equals(name);
    }

    private void forget() {
        TestDataset.dropCaches();
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    }
}
