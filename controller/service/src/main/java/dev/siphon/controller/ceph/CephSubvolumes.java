package dev.siphon.controller.ceph;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.fs.CapabilityProbes;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.CommandReply;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.csi.SnapshotId;
import dev.siphon.csi.VolumeId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Pattern;

/// Implements [Subvolumes] with the mgr's module `volumes` (arguments: `src/pybind/mgr/volumes/module.py`).
final class CephSubvolumes implements Subvolumes {
    private static final Pattern NO_FILE_SYSTEM = Pattern.compile("FS '.*' not found\\s*");

    private final Function<String, CephConnection> connections;
    private final JournalFlush journal;
    private final CapabilityProbes probes;

    /// @param connections returns the connection to a cluster by its id
    /// @param probes checked before each command on a group or volume, so that no command blocks the mgr
    CephSubvolumes(Function<String, CephConnection> connections, JournalFlush journal, CapabilityProbes probes) {
        this.connections = connections;
        this.journal = journal;
        this.probes = probes;
    }

    @Override
    public void createGroup(SubvolumeGroup group, OptionalLong quotaBytes, Optional<String> dataPool) {
        CephCommand command = group(CephCommand.change(Daemon.MGR, "fs subvolumegroup create"), group)
                .with("mode", "755");
        command = quotaBytes.isPresent() ? command.with("size", quotaBytes.getAsLong()) : command;
        command = dataPool.isPresent() ? command.with("pool_layout", dataPool.get()) : command;
        probes.read(group);
        call(group.cluster(), command).orThrow();
    }

    @Override
    public List<String> groups(String cluster, String fileSystem) {
        CephCommand command =
                CephCommand.read(Daemon.MGR, "fs subvolumegroup ls").with("vol_name", fileSystem);
        return names(call(cluster, command));
    }

    @Override
    public Optional<GroupSpace> groupUsage(SubvolumeGroup group) {
        probes.read(group);
        CommandReply reply =
                call(group.cluster(), group(CephCommand.read(Daemon.MGR, "fs subvolumegroup info"), group));
        if (reply.is(CephErrno.ENOENT)) {
            return Optional.empty();
        }
        JsonObject info = reply.json().getAsJsonObject();
        return Optional.of(new GroupSpace(
                SubvolumeReplies.quota(info), info.get("bytes_used").getAsLong()));
    }

    @Override
    public Optional<List<String>> list(SubvolumeGroup group) {
        probes.read(group);
        CommandReply reply = call(group.cluster(), group(CephCommand.read(Daemon.MGR, "fs subvolume ls"), group));
        return reply.is(CephErrno.ENOENT) ? Optional.empty() : Optional.of(names(reply));
    }

    @Override
    public void create(VolumeId.Provisioned volume, SubvolumeSpec spec) {
        CephCommand command = change(volume, "fs subvolume create")
                .with("uid", Integer.toUnsignedLong(spec.uid()))
                .with("gid", Integer.toUnsignedLong(spec.gid()))
                .with("mode", Integer.toOctalString(spec.mode()))
                .with("namespace_isolated", true);
        command = spec.quotaBytes().isPresent()
                ? command.with("size", spec.quotaBytes().getAsLong())
                : command;
        command = spec.dataPool().isPresent()
                ? command.with("pool_layout", spec.dataPool().get())
                : command;
        CephCommand creation = command;
        probes.change(
                SubvolumeGroup.of(volume),
                () -> call(volume.cluster(), creation).orThrow());
    }

    @Override
    public Optional<Subvolume> find(VolumeId.Provisioned volume) {
        CommandReply reply = call(volume, read(volume, "fs subvolume info"));
        if (reply.is(CephErrno.ENOENT)) {
            return Optional.empty();
        }
        if (reply.is(CephErrno.EAGAIN)) {
            return cloneProgress(volume).map(CloneProgress::stage).map(SubvolumeReplies::ofClone);
        }
        // If the .meta file is missing or empty, the mgr assumes a legacy subvolume and misses its attributes.
        if (reply.is(CephErrno.ENODATA)) {
            return Optional.of(SubvolumeReplies.without(Subvolume.State.BROKEN));
        }
        return Optional.of(SubvolumeReplies.subvolume(volume, reply.json().getAsJsonObject()));
    }

    @Override
    public void resize(VolumeId.Provisioned volume, long quotaBytes) {
        call(volume, change(volume, "fs subvolume resize").with("new_size", Long.toString(quotaBytes)))
                .orThrow();
    }

    @Override
    public void remove(VolumeId.Provisioned volume) {
        // No `force` at first: it would also hide that the file system is missing.
        CephCommand command = change(volume, "fs subvolume rm");
        probes.remove(volume, () -> remove(volume.cluster(), command));
    }

    private void remove(String cluster, CephCommand command) {
        CommandReply reply = call(cluster, command.with("retain_snapshots", true));
        if (reply.is(CephErrno.EINVAL)) {
            // A half-made subvolume cannot retain snapshots, and has none.
            reply = call(cluster, command);
        } else if (reply.is(CephErrno.EAGAIN)) {
            // A clone's target needs `force`. The mgr still refuses it while the clone runs.
            reply = call(cluster, command.with("retain_snapshots", true).with("force", true));
        }
        unlessGone(reply);
    }

    @Override
    public Map<String, String> notes(VolumeId.Provisioned volume) {
        Map<String, String> notes = new TreeMap<>();
        JsonObject all =
                call(volume, read(volume, "fs subvolume metadata ls")).json().getAsJsonObject();
        for (Map.Entry<String, JsonElement> note : all.entrySet()) {
            String key = MetadataEncoding.key(note.getKey());
            if (key.startsWith("siphon.")) {
                notes.put(key, MetadataEncoding.value(note.getValue().getAsString()));
            }
        }
        return notes;
    }

    @Override
    public void setNote(VolumeId.Provisioned volume, String key, String value) {
        CephCommand command = change(volume, "fs subvolume metadata set");
        call(
                        volume,
                        command.with("key_name", MetadataEncoding.keptKey(key))
                                .with("value", MetadataEncoding.keptValue(value)))
                .orThrow();
    }

    @Override
    public void removeNote(VolumeId.Provisioned volume, String key) {
        CephCommand command = change(volume, "fs subvolume metadata rm");
        unlessGone(call(
                volume, command.with("key_name", MetadataEncoding.keptKey(key)).with("force", true)));
    }

    @Override
    public List<String> snapshots(VolumeId.Provisioned volume) {
        CommandReply reply = call(volume, read(volume, "fs subvolume snapshot ls"));
        return reply.is(CephErrno.ENOENT) ? List.of() : names(reply);
    }

    @Override
    public void createSnapshot(SnapshotId snapshot) {
        CommandReply reply =
                call(snapshot.volume(), snapshot(change(snapshot.volume(), "fs subvolume snapshot create"), snapshot));
        // At the snapshot limit, Ceph 18 also returns EMLINK for a snapshot that exists.
        if (!reply.is(CephErrno.EMLINK) || findSnapshot(snapshot).isEmpty()) {
            reply.orThrow();
        }
    }

    @Override
    public Optional<Snapshot> findSnapshot(SnapshotId snapshot) {
        CommandReply reply =
                call(snapshot.volume(), snapshot(read(snapshot.volume(), "fs subvolume snapshot info"), snapshot));
        return reply.is(CephErrno.ENOENT)
                ? Optional.empty()
                : Optional.of(SubvolumeReplies.snapshot(reply.json().getAsJsonObject()));
    }

    @Override
    public void removeSnapshot(SnapshotId snapshot) {
        unlessGone(call(snapshot.volume(), snapshot(change(snapshot.volume(), "fs subvolume snapshot rm"), snapshot)));
    }

    @Override
    public void startClone(SnapshotId source, VolumeId.Provisioned target) {
        CephCommand command = snapshot(change(source.volume(), "fs subvolume snapshot clone"), source)
                .with("target_sub_name", target.subvolume())
                .with("target_group_name", target.group());
        journal.prepare(target.cluster(), target.fileSystem());
        CommandReply reply =
                journal.during(target.cluster(), target.fileSystem(), () -> call(source.volume(), command));
        if (reply.is(CephErrno.EAGAIN)) {
            throw new DriverException.BackendUnavailable(
                    "the clone of " + source + " cannot start now: " + reply.words() + "; retry");
        }
        reply.orThrow();
    }

    @Override
    public Optional<CloneProgress> cloneProgress(VolumeId.Provisioned target) {
        CephCommand command = clone(CephCommand.read(Daemon.MGR, "fs clone status"), target);
        CommandReply reply = journal.during(target.cluster(), target.fileSystem(), () -> call(target, command));
        return reply.is(CephErrno.ENOENT) || reply.is(CephErrno.EOPNOTSUPP)
                ? Optional.empty()
                : Optional.of(SubvolumeReplies.clone(reply.json().getAsJsonObject()));
    }

    @Override
    public void cancelClone(VolumeId.Provisioned target) {
        CommandReply reply = call(target, clone(CephCommand.change(Daemon.MGR, "fs clone cancel"), target));
        // EINVAL: the clone has ended meanwhile.
        if (!reply.is(CephErrno.EINVAL)) {
            unlessGone(reply);
        }
    }

    @Override
    public long availableBytes(String cluster, String fileSystem, Optional<String> dataPool) {
        String pool = dataPool.orElseGet(() -> firstDataPool(cluster, fileSystem));
        JsonObject df = call(cluster, CephCommand.read(Daemon.MON, "df")).json().getAsJsonObject();
        for (JsonElement each : df.getAsJsonArray("pools")) {
            if (each.getAsJsonObject().get("name").getAsString().equals(pool)) {
                return each.getAsJsonObject()
                        .getAsJsonObject("stats")
                        .get("max_avail")
                        .getAsLong();
            }
        }
        throw new DriverException.InvalidRequest(
                "parameter dataPool " + QuotedText.of(pool) + ": cluster " + cluster + " has no such pool");
    }

    private String firstDataPool(String cluster, String fileSystem) {
        JsonArray all =
                call(cluster, CephCommand.read(Daemon.MON, "fs ls")).json().getAsJsonArray();
        for (JsonElement each : all) {
            if (each.getAsJsonObject().get("name").getAsString().equals(fileSystem)) {
                return each.getAsJsonObject()
                        .getAsJsonArray("data_pools")
                        .get(0)
                        .getAsString();
            }
        }
        throw new DriverException.InvalidRequest(
                "parameter fsName " + QuotedText.of(fileSystem) + ": cluster " + cluster + " has no such file system");
    }

    private static List<String> names(CommandReply reply) {
        List<String> names = new ArrayList<>();
        reply.json()
                .getAsJsonArray()
                .forEach(each -> names.add(each.getAsJsonObject().get("name").getAsString()));
        return names.stream().sorted().toList();
    }

    private static void unlessGone(CommandReply reply) {
        if (!reply.is(CephErrno.ENOENT)) {
            reply.orThrow();
        }
    }

    private CommandReply call(VolumeId.Provisioned volume, CephCommand command) {
        if (command.repeatable()) {
            probes.read(volume);
        } else {
            probes.change(volume);
        }
        return call(volume.cluster(), command);
    }

    /// Only the mgr's message distinguishes a missing file system from a missing subvolume.
    private CommandReply call(String cluster, CephCommand command) {
        CommandReply reply = connections.apply(cluster).call(command);
        if (reply.is(CephErrno.ENOENT) && NO_FILE_SYSTEM.matcher(reply.words()).matches()) {
            throw new DriverException.InUse("cluster " + cluster + " has no such file system now: " + reply.words());
        }
        return reply;
    }

    private static CephCommand read(VolumeId.Provisioned volume, String prefix) {
        return subvolume(CephCommand.read(Daemon.MGR, prefix), volume);
    }

    private static CephCommand change(VolumeId.Provisioned volume, String prefix) {
        return subvolume(CephCommand.change(Daemon.MGR, prefix), volume);
    }

    private static CephCommand group(CephCommand command, SubvolumeGroup group) {
        return command.with("vol_name", group.fileSystem()).with("group_name", group.name());
    }

    private static CephCommand subvolume(CephCommand command, VolumeId.Provisioned volume) {
        return group(command, SubvolumeGroup.of(volume)).with("sub_name", volume.subvolume());
    }

    private static CephCommand snapshot(CephCommand command, SnapshotId snapshot) {
        return command.with("snap_name", snapshot.name());
    }

    private static CephCommand clone(CephCommand command, VolumeId.Provisioned target) {
        return group(command, SubvolumeGroup.of(target)).with("clone_name", target.subvolume());
    }
}
