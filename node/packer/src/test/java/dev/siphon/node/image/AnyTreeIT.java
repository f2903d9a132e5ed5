package dev.siphon.node.image;

import static dev.siphon.node.image.TreeScript.hex;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;

/// For any tree, the kernel shows the same through its image as through the tree.
final class AnyTreeIT {
    private static final int TRIES = 12;
    private static final int MOST = 120;

    /// @param where the index of its directory among those created so far
    /// @param name its bytes in hex
    /// @param kind 0 to 9, most of them files
    /// @param size of a file, a link target or an attribute, in bytes
    record Thing(int where, String name, int kind, int size, int mode, long time) {}

    @Provide
    Arbitrary<List<Thing>> trees() {
        Arbitrary<String> names = Arbitraries.bytes()
                .filter(octet -> octet != 0 && octet != '/')
                .array(byte[].class)
                .ofMinSize(1)
                .ofMaxSize(255)
                .map(TreeScript::hex);
        Arbitrary<Integer> sizes = Arbitraries.oneOf(
                Arbitraries.integers().between(0, 5000), Arbitraries.of(1984, 1985, 4096, 8192, 300_000, 5_000_000));
        Arbitrary<Thing> things = Combinators.combine(
                        Arbitraries.integers().between(0, MOST),
                        names,
                        Arbitraries.integers().between(0, 9),
                        sizes,
                        Arbitraries.integers().between(0, 07777),
                        Arbitraries.longs().between(-4_000_000_000_000_000_000L, 8_000_000_000_000_000_000L))
                .as(Thing::new);
        return things.list().ofMaxSize(MOST);
    }

    @Property(tries = TRIES, edgeCases = EdgeCasesMode.NONE, shrinking = ShrinkingMode.OFF)
    void theKernelShowsTheSame(
            @ForAll("trees") List<Thing> things, @ForAll ImageModes modes, @ForAll("parallel") int parallel) {
        try (Packing packing = new Packing()) {
            script(things).build(packing.source());
            packing.pack("image", modes, parallel);
            packing.assertSame("image", modes);
        }
    }

    @Provide
    Arbitrary<Integer> parallel() {
        return Arbitraries.integers().between(1, 9);
    }

    private static TreeScript script(List<Thing> things) {
        TreeScript script = new TreeScript();
        TreeScript statuses = new TreeScript();
        List<String> directories = new ArrayList<>(List.of(""));
        List<String> files = new ArrayList<>();
        Set<String> taken = new LinkedHashSet<>();
        for (Thing thing : things) {
            String path = directories.get(thing.where() % directories.size()) + thing.name();
            if (isDots(thing.name()) || !taken.add(path)) {
                continue;
            }
            add(script, thing, path, directories, files);
            statuses.with(
                    "status",
                    path,
                    Integer.toOctalString(thing.mode()),
                    Integer.toString(thing.size()),
                    "4294967294",
                    Long.toString(thing.time()));
        }
        return script.then(statuses);
    }

    private static void add(TreeScript script, Thing thing, String path, List<String> directories, List<String> files) {
        switch (thing.kind()) {
            case 0, 1 -> {
                script.with("dir", path);
                directories.add(path + hex("/"));
            }
            case 2 -> script.with("symlink", path, hex("t".repeat(1 + thing.size() % 4095)));
            case 3 -> {
                if (files.isEmpty()) {
                    script.with("dir", path);
                } else {
                    script.with("link", path, files.get(thing.where() % files.size()));
                }
            }
            case 4 -> {
                script.with("file", path, Integer.toString(thing.size()), path);
                script.with("attribute", path, hex("user.a"), hex("v".repeat(thing.size() % 5000)));
                files.add(path);
            }
            default -> {
                script.with("file", path, Integer.toString(thing.size()), path);
                files.add(path);
            }
        }
    }

    private static boolean isDots(String name) {
        return name.equals(hex(".")) || name.equals(hex(".."));
    }
}
