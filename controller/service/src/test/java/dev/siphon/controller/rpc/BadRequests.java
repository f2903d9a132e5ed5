package dev.siphon.controller.rpc;

import csi.v1.VolumeCapability;
import csi.v1.VolumeCapability.AccessMode;
import csi.v1.VolumeCapability.MountVolume;
import io.grpc.Status;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

/// Invalid values for each kind of field, shared by all requests with such a field.
final class BadRequests {
    static final String UNKNOWN_VERSION = "s2:lab:fs:a0123456789abcdefghij:v0123456789abcdefghij";
    static final String OTHER_CLUSTER = "s1:other:fs:a0123456789abcdefghij:v0123456789abcdefghij";
    static final String MISSING_VOLUME = "s1:lab:fs:a0123456789abcdefghij:v0123456789abcdefghij";
    static final String MISSING_SNAPSHOT = MISSING_VOLUME + "@s0123456789abcdefghij";

    /// Ids that Siphon never wrote, as another system, another version or an attacker might send them.
    private static final List<String> NOT_OURS = List.of(
            "pvc-0d6f8a3c-5b0e-4b43-9f3e-5a4d7a8b9c0d",
            "s1:lab:fs:a0123456789abcdefghij",
            "s1:lab:fs:a0123456789abcdefghij:",
            "s1:lab:fs:a0123456789abcdefghij:../../etc",
            "s1:lab:fs:..:v0123456789abcdefghij",
            "s1:lab:../fs:a0123456789abcdefghij:v0123456789abcdefghij",
            "s1:lab:fs:by-hand:v0123456789abcdefghij",
            "s1:lab:fs:a0123456789abcdefghij:by-hand",
            "S1:lab:fs:a0123456789abcdefghij:v0123456789abcdefghij",
            "static:lab:fs:relative",
            "static:lab:fs:/",
            "static:lab:fs:/a/../b",
            "static:lab:fs:/a/./b",
            "static:lab:fs:/a//b",
            "static:lab:fs:/a/.snap/b",
            "static::fs:/a",
            "0001-0009-rook-ceph-0000000000000001-b7fe6fc1-ba3d-11ec-b909-0242ac120004",
            ":::::",
            "ünïcode");

    private BadRequests() {}

    /// A request with one error.
    ///
    /// @param what describes the error
    /// @param code the status code that CSI defines
    /// @param names text that the message must contain to identify the field
    record Case<B>(String what, Consumer<B> spoil, Status.Code code, String names) {}

    private static <B> Case<B> bad(String what, Consumer<B> spoil, String names) {
        return new Case<>(what, spoil, Status.Code.INVALID_ARGUMENT, names);
    }

    /// Returns errors of a required name that the caller chooses.
    static <B> List<Case<B>> name(String field, BiConsumer<B, String> set) {
        List<Case<B>> cases = text(field, set, 128);
        for (String banned : List.of("a\u0000b", "\u0001", "a\u000bb", "\u001f", "\u007f", "\u0085", "\u009f")) {
            cases.add(bad(
                    field + " with U+%04x".formatted((int) banned.charAt(banned.length() / 2)),
                    b -> set.accept(b, banned),
                    field));
        }
        return cases;
    }

    private static <B> List<Case<B>> text(String field, BiConsumer<B, String> set, int most) {
        return new ArrayList<>(List.of(
                bad(field + " missing", b -> set.accept(b, ""), field),
                bad(field + " too long", b -> set.accept(b, "x".repeat(most + 1)), field),
                bad(field + " too long in bytes", b -> set.accept(b, "ü".repeat(most / 2 + 1)), field)));
    }

    /// Returns errors of a required id.
    ///
    /// @param unknown the code for an id of nothing that exists
    /// @param otherCluster the code for an id of an unconfigured cluster
    static <B> List<Case<B>> volumeId(
            String field, BiConsumer<B, String> set, Status.Code unknown, Status.Code otherCluster) {
        List<Case<B>> cases = malformedId(field, set, 128);
        for (String text : NOT_OURS) {
            cases.add(new Case<>(field + " not ours: " + text, b -> set.accept(b, text), unknown, field));
        }
        cases.add(otherVersion(field, set, UNKNOWN_VERSION));
        cases.add(new Case<>(field + " of nothing", b -> set.accept(b, MISSING_VOLUME), unknown, MISSING_VOLUME));
        cases.add(new Case<>(field + " elsewhere", b -> set.accept(b, OTHER_CLUSTER), otherCluster, "clusters file"));
        return cases;
    }

    /// Returns the errors of [#volumeId] for a snapshot.
    static <B> List<Case<B>> snapshotId(
            String field, BiConsumer<B, String> set, Status.Code unknown, Status.Code otherCluster) {
        List<Case<B>> cases = malformedId(field, set, 128);
        for (String volume : NOT_OURS) {
            cases.add(new Case<>(
                    field + " not ours: " + volume + "@s", b -> set.accept(b, volume + "@s"), unknown, field));
        }
        for (String text : List.of(
                MISSING_VOLUME,
                MISSING_VOLUME + "@",
                MISSING_VOLUME + "@../s",
                MISSING_VOLUME + "@t0123456789abcdefghij",
                "static:lab:fs:/a@s",
                "@")) {
            cases.add(new Case<>(field + " not ours: " + text, b -> set.accept(b, text), unknown, field));
        }
        cases.add(otherVersion(field, set, UNKNOWN_VERSION + "@s0123456789abcdefghij"));
        cases.add(new Case<>(field + " of nothing", b -> set.accept(b, MISSING_SNAPSHOT), unknown, MISSING_SNAPSHOT));
        cases.add(new Case<>(
                field + " elsewhere", b -> set.accept(b, OTHER_CLUSTER + "@s"), otherCluster, "clusters file"));
        return cases;
    }

    /// Returns an id of another format version, which may name something that exists.
    static <B> Case<B> otherVersion(String field, BiConsumer<B, String> set, String id) {
        return new Case<>(
                field + " of another version", b -> set.accept(b, id), Status.Code.FAILED_PRECONDITION, "format s2");
    }

    /// Returns errors of any id: missing, too long, or with invalid characters.
    static <B> List<Case<B>> malformedId(String field, BiConsumer<B, String> set, int most) {
        List<Case<B>> cases = text(field, set, most);
        for (String banned : List.of("s1:lab\u0000", "a\nb", "\tid", "id\u007f", "\u001b[31m")) {
            cases.add(bad(field + " with a control character", b -> set.accept(b, banned), field));
        }
        return cases;
    }

    /// Returns errors of secrets.
    static <B> List<Case<B>> secrets(Putter<B> put) {
        return List.of(
                bad("secrets too large", b -> put.put(b, "key", "hunter2".repeat(1000)), "secrets"),
                bad("secrets with a bad key", b -> put.put(b, "a b", "hunter2"), "secrets"),
                bad("secrets with an empty key", b -> put.put(b, "", "hunter2"), "secrets"));
    }

    /// Returns errors of a class's parameters.
    static <B> List<Case<B>> parameters(String field, Putter<B> put) {
        List<Case<B>> cases = new ArrayList<>(List.of(
                bad(field + " too large", b -> put.put(b, "owner", "x".repeat(5000)), field),
                bad(field + " with a typo", b -> put.put(b, "quotafiles", "1"), field),
                bad(field + " with an empty key", b -> put.put(b, "", "1"), field),
                bad(field + " with NUL in a key", b -> put.put(b, "mo\u0000de", "0700"), field),
                bad(field + " with NUL in a value", b -> put.put(b, "mode", "07\u000000"), field)));
        Map.of("mode", "0,01000,0999,8,-1,77777,+700, 0700,abc,", "quotaFiles", "-1,1.5,9999999999999999999,1e3,")
                .forEach((name, values) -> {
                    for (String value : values.split(",", -1)) {
                        cases.add(bad(field + " " + name + "=" + value, b -> put.put(b, name, value), name));
                    }
                });
        return cases;
    }

    /// Returns errors of parameters that only a StorageClass has.
    static <B> List<Case<B>> classParameters(String field, Putter<B> put) {
        List<Case<B>> cases = parameters(field, put);
        Map<String, List<String>> wrong = Map.of(
                "cluster", List.of("", "other", "UPPER", "a b", "x".repeat(21)),
                "fsName", List.of("", "other", "../fs", "a/b"),
                "dataPool", List.of("", "other", "a b"),
                "owner", List.of("", "nobody", "u1 ", "u/1", "*"),
                "uid", List.of("", "-1", "4294967295", "root"),
                "gid", List.of("", "-1", "4294967295", "root"),
                "mounter", List.of("", "nfs", "Kernel"),
                "snapshotBacked", List.of("", "yes", "True"),
                "containerUser", List.of("", "nobody", "-1", "4294967295", "1:2:3"),
                "mountOptions",
                        List.of(
                                "secret=hunter2",
                                "name=admin",
                                "noatime,secretfile=/etc/shadow",
                                "noatime,,nodev",
                                "noatime ",
                                "rsize",
                                "rsize=1k",
                                "noatime=1",
                                "mds_namespace=other"));
        wrong.forEach((name, values) -> {
            String named = name.equals("mountOptions") ? "mount option" : name;
            values.forEach(
                    value -> cases.add(bad(field + " " + name + "=" + value, b -> put.put(b, name, value), named)));
        });
        return cases;
    }

    /// Returns errors of a volume capability.
    static <B> List<Case<B>> capability(String field, BiConsumer<B, VolumeCapability> set) {
        VolumeCapability good = Requests.writer().build();
        List<Case<B>> cases = new ArrayList<>();
        Map<String, VolumeCapability> wrong = Map.of(
                "block", Requests.block(),
                "access_type", good.toBuilder().clearAccessType().build(),
                "access_mode", good.toBuilder().clearAccessMode().build(),
                "access_mode.mode",
                        good.toBuilder()
                                .setAccessMode(AccessMode.newBuilder().setModeValue(99))
                                .build());
        wrong.forEach((what, value) -> cases.add(bad(field + "." + what, b -> set.accept(b, value), field)));
        for (String flag : List.of("secret=hunter2", "noatime,nodev", "name=admin", "", "ro\u0000", "rsize=x")) {
            cases.add(mount(field, "mount_flags", good, MountVolume.newBuilder().addMountFlags(flag), set));
        }
        cases.add(mount(field, "fs_type", good, MountVolume.newBuilder().setFsType("ext4"), set));
        cases.add(mount(
                field, "volume_mount_group", good, MountVolume.newBuilder().setVolumeMountGroup("1000"), set));
        MountVolume.Builder many = MountVolume.newBuilder();
        for (int i = 0; i < 600; i++) {
            many.addMountFlags("noatime");
        }
        cases.add(mount(field, "mount_flags", good, many, set));
        return cases;
    }

    private static <B> Case<B> mount(
            String field,
            String what,
            VolumeCapability good,
            MountVolume.Builder mount,
            BiConsumer<B, VolumeCapability> set) {
        return bad(
                field + ".mount." + what + " "
                        + mount.getMountFlagsList().stream().limit(1).toList(),
                b -> set.accept(b, good.toBuilder().setMount(mount).build()),
                what);
    }

    /// Puts an entry into a map field.
    @FunctionalInterface
    interface Putter<B> {
        void put(B builder, String key, String value);
    }
}
