package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import dev.siphon.node.tar.InMemory;
import dev.siphon.node.tar.TarMember;
import dev.siphon.node.tar.TarScanner;
import dev.siphon.node.tar.Tars;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Fuzzes the tree that a packer builds from a tar.
final class TreeParsingFuzzTest {
    private static final PackListener NOBODY = new PackListener() {
        @Override
        public void walked(long entries) {
            // not needed
        }

        @Override
        public void leftOut(long count, List<String> first) {
            // not needed
        }

        @Override
        public void packed(long done, long all) {
            // not needed
        }
    };

    /// A name may have 32,768 parts, each a directory.
    @Test
    void trees() {
        ParserFuzz.of(
                        "trees of tars",
                        Tars.valid(),
                        bytes -> tree(Tars.withChecksums(bytes)),
                        DriverException.InvalidRequest.class,
                        DriverException.CapacityOutOfRange.class)
                .allocating(64 << 20)
                .run();
    }

    private static void tree(byte[] tar) {
        TarTree tree = new TarTree(ImageModes.PRESERVED, 0, Inodes.status(0x8000 | 0640, 0));
        TarScanner scanner = new TarScanner(new InMemory(tar));
        for (Optional<TarMember> next = scanner.next(); next.isPresent(); next = scanner.next()) {
            tree.add(next.get());
        }
        tree.build(NOBODY);
    }
}
