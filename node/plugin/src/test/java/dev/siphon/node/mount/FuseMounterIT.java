package dev.siphon.node.mount;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.ceph.FuseMounter;
import dev.siphon.node.fuse.FuseCaches;
import dev.siphon.node.fuse.FuseChildren;
import dev.siphon.node.linux.Programs;
import dev.siphon.node.linux.Workplace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// ceph-fuse against a real Ceph.
@Tag("fuse")
class FuseMounterIT extends CephMounterContract {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Override
    Mounter mounter() {
        return new FuseMounter("test-node", FuseCaches.usual(), new FuseChildren());
    }

    /// With closed standard descriptors, its log went into sockets and pipes that reused the numbers.
    @Test
    void itsStandardDescriptorsAreItsOwn() throws IOException {
        try (Workplace workplace = Workplace.create()) {
            Path mountPoint = workplace.directory("described");
            mounter().mount(volume(), mountPoint, LIMIT);
            // the first data opens the first connection to an OSD
            Files.writeString(mountPoint.resolve(writable()).resolve("described"), "text");
            Programs.run("sync", "-f", mountPoint.toString());
            ProcessHandle client = ProcessHandle.allProcesses()
                    .filter(process -> process.info()
                            .arguments()
                            .filter(words -> List.of(words).contains(mountPoint.toString()))
                            .isPresent())
                    .findFirst()
                    .orElseThrow();
            Path descriptors = Path.of("/proc", Long.toString(client.pid()), "fd");
            assertTrue(Files.readSymbolicLink(descriptors.resolve("0")).endsWith("null"));
            for (String number : new String[] {"1", "2"}) {
                String file =
                        Files.readSymbolicLink(descriptors.resolve(number)).toString();
                assertTrue(file.startsWith("/memfd:output"), file);
            }
        }
    }
}
