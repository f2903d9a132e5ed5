package dev.siphon.e2e.driver;

import dev.siphon.e2e.lab.Await;
import dev.siphon.e2e.lab.CephTree;
import dev.siphon.e2e.lab.Lab;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/// Fails a class whose tests leave processes of the driver, mounts or anything in Ceph behind. Removes the empty
/// groups of accounts, which the driver keeps by design.
public final class LeavesNothingBehind implements BeforeAllCallback, AfterAllCallback {
    private static final ExtensionContext.Namespace STORE =
            ExtensionContext.Namespace.create(LeavesNothingBehind.class);
    private static final Duration SETTLE = Duration.ofSeconds(15);

    @Override
    public void beforeAll(ExtensionContext context) {
        context.getStore(STORE).put("mounts", mounts());
        context.getStore(STORE).put("processes", processes());
    }

    @Override
    public void afterAll(ExtensionContext context) {
        List<String> left = new ArrayList<>();
        left.addAll(settled("mount", context, LeavesNothingBehind::mounts));
        left.addAll(settled("process", context, LeavesNothingBehind::processes));
        try (CephTree tree = CephTree.mount(Lab.here())) {
            for (String group : tree.groups()) {
                List<String> subvolumes = tree.subvolumes(group);
                if (subvolumes.isEmpty()) {
                    tree.removeGroup(group);
                }
                subvolumes.forEach(name -> left.add("subvolume " + group + "/" + name));
            }
            tree.state().stream()
                    // the mgr's own folders; `_legacy` appears if the mgr was killed while it created a subvolume
                    .filter(line ->
                            !line.startsWith("_index") && !line.equals("_deleting/") && !line.equals("_legacy/"))
                    .forEach(line -> left.add("in Ceph: " + line));
        }
        if (!left.isEmpty()) {
            throw new AssertionError("left behind:\n  " + String.join("\n  ", left));
        }
    }

    private static List<String> settled(
            String what, ExtensionContext context, java.util.function.Supplier<Set<String>> now) {
        Set<?> before = context.getStore(STORE).get(what.equals("mount") ? "mounts" : "processes", Set.class);
        long end = System.nanoTime() + SETTLE.toNanos();
        Set<String> left = now.get();
        left.removeAll(before);
        while (!left.isEmpty() && System.nanoTime() < end) {
            Await.pass(Duration.ofMillis(100));
            left = now.get();
            left.removeAll(before);
        }
        return left.stream().map(each -> what + " " + each).toList();
    }

    /// Returns the mount points of this process.
    private static Set<String> mounts() {
        try {
            return Files.readAllLines(Path.of("/proc/self/mountinfo")).stream()
                    .map(line -> line.split(" ", -1)[4])
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Returns the processes of the driver and of ceph-fuse, with their ids.
    private static Set<String> processes() {
        try (Stream<Path> all = Files.list(Path.of("/proc"))) {
            return all.filter(each -> each.getFileName().toString().matches("[0-9]+"))
                    .map(each -> each.getFileName() + " " + commandLine(each))
                    .filter(each -> each.contains("siphon controller")
                            || each.contains("siphon node")
                            || each.contains("SiphonMain")
                            || each.contains("CrashingController")
                            || each.contains("ceph-fuse"))
                    .collect(Collectors.toCollection(TreeSet::new));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String commandLine(Path process) {
        try {
            byte[] words = Files.readAllBytes(process.resolve("cmdline"));
            return new String(words, StandardCharsets.UTF_8).replace('\0', ' ');
        } catch (IOException e) {
            // it has ended in the meantime
            return "";
        }
    }
}
