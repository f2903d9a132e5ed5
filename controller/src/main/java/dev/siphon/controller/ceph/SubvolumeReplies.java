package dev.siphon.controller.ceph;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import dev.siphon.controller.volume.SubvolumeGroup;
import dev.siphon.controller.volume.Subvolumes.CloneProgress;
import dev.siphon.controller.volume.Subvolumes.Snapshot;
import dev.siphon.controller.volume.Subvolumes.Subvolume;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.util.HashSet;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/// What the mgr's module `volumes` answers, read into the domain's records. Its times are left alone: they are in
/// the mgr's local time, and it does not say which that is (`datetime.fromtimestamp`).
final class SubvolumeReplies {
    private static final int PERMISSION_BITS = 07777;

    private SubvolumeReplies() {}

    /// The answer of `fs subvolume info`.
    static Subvolume subvolume(VolumeId.Provisioned volume, JsonObject info) {
        String state = info.get("state").getAsString();
        if (state.equals("snapshot-retained")) {
            return without(Subvolume.State.RETAINED);
        }
        String path = info.get("path").getAsString();
        if (!path.startsWith(SubvolumeGroup.of(volume).path() + "/" + volume.subvolume() + "/")) {
            // a subvolume of old, which the mgr makes of a half-made one: its data directory is not below it
            return without(Subvolume.State.BROKEN);
        }
        return new Subvolume(
                state.equals("complete") ? Subvolume.State.READY : Subvolume.State.CLONING,
                Optional.of(path),
                quota(info),
                info.get("bytes_used").getAsLong(),
                info.get("uid").getAsInt(),
                info.get("gid").getAsInt(),
                info.get("mode").getAsInt() & PERMISSION_BITS,
                info.get("data_pool").getAsString(),
                info.get("pool_namespace").getAsString());
    }

    /// A subvolume of which nothing but its state is known.
    static Subvolume without(Subvolume.State state) {
        return new Subvolume(state, Optional.empty(), OptionalLong.empty(), 0, 0, 0, 0, "", "");
    }

    /// A clone's target whose `info` the mgr refuses because the clone has not ended well.
    static Subvolume ofClone(CloneProgress.Stage stage) {
        return without(
                switch (stage) {
                    // it ended between the two questions: the next look finds it ready
                    case RUNNING, COMPLETE -> Subvolume.State.CLONING;
                    case FAILED, CANCELLED -> Subvolume.State.CLONE_ENDED_BADLY;
                });
    }

    /// `bytes_quota`, which is a number or `infinite`.
    static OptionalLong quota(JsonObject info) {
        JsonElement quota = info.get("bytes_quota");
        return quota.getAsJsonPrimitive().isNumber() ? OptionalLong.of(quota.getAsLong()) : OptionalLong.empty();
    }

    /// The answer of `fs subvolume snapshot info`.
    static Snapshot snapshot(JsonObject info) {
        Set<String> pending = new HashSet<>();
        if (info.get("has_pending_clones").getAsString().equals("yes")) {
            info.getAsJsonArray("pending_clones")
                    .forEach(clone ->
                            pending.add(clone.getAsJsonObject().get("name").getAsString()));
        }
        return new Snapshot(info.get("data_pool").getAsString(), pending);
    }

    /// The answer of `fs clone status`.
    static CloneProgress clone(JsonObject reply) {
        JsonObject status = reply.getAsJsonObject("status");
        String state = status.get("state").getAsString();
        return switch (state) {
            case "complete" -> new CloneProgress(CloneProgress.Stage.COMPLETE, "100%");
            case "failed" -> new CloneProgress(CloneProgress.Stage.FAILED, failure(status));
            case "canceled" -> new CloneProgress(CloneProgress.Stage.CANCELLED, "cancelled");
            case "pending", "in-progress" -> new CloneProgress(CloneProgress.Stage.RUNNING, progress(status));
            default -> throw new DriverException.BackendFault("the mgr says a clone is " + state);
        };
    }

    private static String failure(JsonObject status) {
        return status.has("failure") ? "failed: " + status.get("failure") : "failed";
    }

    /// Ceph 19 and later say how much has been copied; before, nothing does.
    private static String progress(JsonObject status) {
        JsonObject report =
                status.has("progress_report") ? status.getAsJsonObject("progress_report") : new JsonObject();
        return report.has("percentage cloned")
                ? report.get("percentage cloned").getAsString()
                : status.get("state").getAsString();
    }
}
