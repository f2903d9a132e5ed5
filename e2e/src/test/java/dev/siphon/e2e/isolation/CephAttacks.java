package dev.siphon.e2e.isolation;

import dev.siphon.e2e.isolation.Attack.Control;
import dev.siphon.e2e.isolation.Verdict.By;
import dev.siphon.e2e.lab.Command;
import dev.siphon.e2e.lab.Lab;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/// Attacks with a key and Ceph's own tools.
final class CephAttacks {
    /// The column of a second volume of the attacker's own account.
    static final String SAME_ACCOUNT = "u1's other volume";

    private CephAttacks() {}

    static List<Attack> all() {
        List<Attack> all = new ArrayList<>(throughFiles());
        all.addAll(objects());
        all.addAll(commands());
        return all;
    }

    /// Returns the attacks that mount something.
    static List<Attack> throughFiles() {
        List<Attack> all = new ArrayList<>(files());
        all.addAll(forgeries());
        return all;
    }

    private interface InVolume {
        void in(Path data) throws java.io.IOException;
    }

    /// Accesses the data directory through a mount of its account's group.
    private static Attack inVolume(String title, Control control, InVolume attempt) {
        return Attack.of(
                title,
                control,
                (target, _, who) -> FileAttempt.of(
                        who,
                        target.group(),
                        root -> attempt.in(root.resolve(target.subvolume()).resolve(target.leaf()))));
    }

    private static Attack reading(String title, Control control, Function<Target, String> mount) {
        return Attack.of(
                title,
                control,
                (target, _, who) -> FileAttempt.of(
                        who,
                        mount.apply(target),
                        root -> FileAttempt.read(root.resolve(target.data()
                                        .substring(mount.apply(target).length())
                                        .replaceFirst("^/", ""))
                                .resolve("secret"))));
    }

    private static List<Attack> files() {
        String name = "secret";
        return List.of(
                reading("mount its data directory, read a file", Control.OWN_KEY, Target::data),
                reading("mount its account's directory, read a file", Control.OWN_KEY, Target::group),
                reading("mount `/volumes`, read a file", Control.ADMIN, _ -> "/volumes"),
                reading("mount `/`, read a file", Control.ADMIN, _ -> "/"),
                inVolume("list the names in it", Control.OWN_KEY, FileAttempt::list)
                        .openFor(SAME_ACCOUNT),
                Attack.of(
                        "read a file in a snapshot of it (`.snap`)",
                        Control.OWN_KEY,
                        (target, _, who) -> FileAttempt.of(
                                who,
                                target.group(),
                                root -> FileAttempt.read(root.resolve(target.subvolume())
                                        .resolve(".snap")
                                        .resolve(target.snapshot())
                                        .resolve(target.leaf())
                                        .resolve(name)))),
                inVolume("take a snapshot of it (`mkdir .snap/x`)", Control.ADMIN, data -> {
                    // Ceph allows no snapshots below a subvolume
                    Path snapshot = data.resolveSibling(".snap").resolve("x");
                    Files.createDirectory(snapshot);
                    Files.delete(snapshot);
                }),
                Attack.of(
                        "make a directory beside it in its account's directory",
                        Control.ADMIN,
                        (target, _, who) -> FileAttempt.of(who, target.group(), root -> {
                            Files.createDirectory(root.resolve("more"));
                            Files.delete(root.resolve("more"));
                        })),
                inVolume("write a file in it", Control.OWN_KEY, data -> {
                    Files.writeString(data.resolve("new"), "x");
                    Files.delete(data.resolve("new"));
                }),
                inVolume("remove a file in it", Control.OWN_KEY, data -> Files.delete(data.resolve("spare"))),
                inVolume(
                        "change its quota",
                        Control.ADMIN,
                        data -> FileAttempt.setAttribute(data, "ceph.quota.max_bytes", "1073741824")),
                inVolume(
                        "change its layout, so that new files are in the attacker's namespace",
                        Control.ADMIN,
                        data -> FileAttempt.setAttribute(
                                Files.isDirectory(data.resolve("sub")) ? data.resolve("sub") : data,
                                "ceph.dir.layout.pool_namespace",
                                "x")));
    }

    private static List<Attack> forgeries() {
        return List.of(
                inVolume(
                        "rename its data directory",
                        Control.ADMIN,
                        data -> FileAttempt.replaceByLink(data, "/nowhere")),
                Attack.of(
                        "write its `.meta`, which the mgr believes",
                        Control.ADMIN,
                        (target, _, who) -> FileAttempt.of(
                                who,
                                target.group(),
                                root -> FileAttempt.overwrite(
                                        root.resolve(target.subvolume()).resolve(".meta"), "x"))),
                Attack.of(
                        "put a symlink to it in the place of one's own data directory",
                        Control.ADMIN,
                        (target, from, who) -> FileAttempt.of(
                                who,
                                from.group(),
                                root -> FileAttempt.replaceByLink(
                                        root.resolve(from.subvolume()).resolve(from.leaf()), target.data()))),
                Attack.of(
                        "name its path in one's own `.meta`",
                        Control.ADMIN,
                        (target, from, who) -> FileAttempt.of(
                                who,
                                from.group(),
                                root -> FileAttempt.overwrite(
                                        root.resolve(from.subvolume()).resolve(".meta"),
                                        "[GLOBAL]\nversion = 2\ntype = subvolume\npath = " + target.data()
                                                + "\nstate = complete\n"))));
    }

    private static Attack rados(String title, Control control, Function<Target, List<String>> words) {
        return Attack.of(title, control, (target, _, who) -> tool(By.OSD, who, "rados", words.apply(target)));
    }

    private static Verdict tool(By by, KeyHolder who, String program, List<String> words) {
        Command.Result said = who.tool(program, words.toArray(String[]::new));
        return Verdict.of(by, said.exit(), said.output());
    }

    private static List<String> inNamespace(Target target, String... words) {
        List<String> all = new ArrayList<>(List.of("--pool", target.pool(), "--namespace", target.namespace()));
        all.addAll(List.of(words));
        return all;
    }

    private static List<Attack> objects() {
        return List.of(
                rados("list its RADOS objects", Control.OWN_KEY, target -> inNamespace(target, "ls")),
                rados(
                        "read one of them",
                        Control.OWN_KEY,
                        target -> inNamespace(target, "get", target.object(), "/dev/null")),
                rados("write one", Control.OWN_KEY, target -> inNamespace(target, "put", "attack", "/proc/version")),
                rados("remove one", Control.OWN_KEY, target -> inNamespace(target, "rm", "attack")),
                rados("list the whole pool", Control.ADMIN, target -> List.of("--pool", target.pool(), "ls", "--all")),
                rados(
                        "list the pool of the directories",
                        Control.ADMIN,
                        _ -> List.of("--pool", Lab.here().fileSystem() + ".meta", "ls")));
    }

    private static Attack command(String title, By by, Function<Target, List<String>> words) {
        return Attack.of(title, Control.ADMIN, (target, _, who) -> tool(by, who, "ceph", words.apply(target)));
    }

    private static List<String> subvolume(Target target, String command, String... more) {
        List<String> words = new ArrayList<>(List.of("fs", "subvolume"));
        words.addAll(List.of(command.split(" ", -1)));
        words.addAll(List.of(Lab.here().fileSystem(), target.subvolume()));
        words.addAll(List.of(more));
        words.addAll(List.of("--group_name", target.group().substring("/volumes/".length())));
        return words;
    }

    private static List<Attack> commands() {
        return List.of(
                command(
                        "read its key (`auth get`)",
                        By.MON,
                        target ->
                                List.of("auth", "get", "client." + target.key().userId())),
                command("read all keys (`auth ls`)", By.MON, _ -> List.of("auth", "ls")),
                command(
                        "mint a key for it (`auth get-or-create`)",
                        By.MON,
                        target -> List.of(
                                "auth",
                                "get-or-create",
                                "client.evil." + target.subvolume(),
                                "mds",
                                "allow rw path=" + target.data())),
                command(
                        "remove a key (`auth rm`)",
                        By.MON,
                        target -> List.of("auth", "rm", "client.evil." + target.subvolume())),
                command("blocklist an address", By.MON, _ -> List.of("osd", "blocklist", "add", "192.0.2.1", "60")),
                command("`fs subvolume info`", By.MGR, target -> subvolume(target, "info")),
                command("`fs subvolume resize`", By.MGR, target -> subvolume(target, "resize", "1073741824")),
                command(
                        "`fs subvolume snapshot create`",
                        By.MGR,
                        target -> subvolume(target, "snapshot create", "by-hand")),
                command("`fs subvolume snapshot rm`", By.MGR, target -> subvolume(target, "snapshot rm", "by-hand")),
                command(
                        "list sessions (`tell mds.* session ls`)",
                        By.MDS,
                        _ -> List.of("tell", "mds.*", "session", "ls")),
                Attack.of("end its sessions (`client evict`)", Control.ADMIN, CephAttacks::evict));
    }

    private static Verdict evict(Target target, Target from, KeyHolder who) {
        try (KeyHolder.Mounted mounted = target.key().mount(target.data())) {
            Verdict verdict = tool(
                    By.MDS,
                    who,
                    "ceph",
                    List.of(
                            "tell",
                            "mds.*",
                            "client",
                            "evict",
                            "auth_name=" + target.key().userId()));
            boolean alive = Command.attempt("ls", mounted.root().toString()).exit() == 0;
            if (alive == verdict instanceof Verdict.Done) {
                throw new AssertionError("the session of " + target.title() + " is alive: " + alive);
            }
            return verdict;
        } catch (KeyHolder.Refused e) {
            throw new AssertionError(e);
        }
    }
}
