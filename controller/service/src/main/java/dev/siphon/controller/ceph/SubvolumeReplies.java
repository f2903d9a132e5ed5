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

/// Converts the replies of the mgr's module `volumes` to the domain's records. It ignores their times: these are
/// in the mgr's local time, and the reply does not name the time zone (`datetime.fromtimestamp`).
final class SubvolumeReplies {
    private static final int PERMISSION_BITS = 07777;

    private SubvolumeReplies() {}

    /// Converts the reply to `fs subvolume info`.
    static Subvolume subvolume(VolumeId.Provisioned volume, JsonObject info) {
        String state = info.get("state").getAsString();
        if (state.equals("snapshot-retained")) {
            return without(Subvolume.State.RETAINED);
        }
        String path = info.get("path").getAsString();
        if (!path.startsWith(SubvolumeGroup.pathOf(volume) + "/")) {
            // The mgr turns a half-made subvolume into a legacy one, whose data directory is not below it.
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

    /// Returns a subvolume without any data but its state.
    static Subvolume without(Subvolume.State state) {
        return new Subvolume(state, Optional.empty(), OptionalLong.empty(), 0, 0, 0, 0, "", "");
    }

    /// Returns a clone's target whose `info` the mgr refuses because the clone has not completed.
    static Subvolume ofClone(CloneProgress.Stage stage) {
        return without(
                switch (stage) {
                    // COMPLETE: the clone ended between the two commands, and the next check finds it ready.
                    case RUNNING, COMPLETE -> Subvolume.State.CLONING;
                    case FAILED, CANCELLED -> Subvolume.State.CLONE_ENDED_BADLY;
                });
    }

    /// Returns `bytes_quota`, which is a number or `infinite` (empty).
    static OptionalLong quota(JsonObject info) {
        JsonElement quota = info.get("bytes_quota");
        return quota.getAsJsonPrimitive().isNumber() ? OptionalLong.of(quota.getAsLong()) : OptionalLong.empty();
    }

    /// Converts the reply to `fs subvolume snapshot info`.
    static Snapshot snapshot(JsonObject info) {
        Set<String> pending = new HashSet<>();
        if (info.get("has_pending_clones").getAsString().equals("yes")) {
            info.getAsJsonArray("pending_clones")
                    .forEach(clone ->
                            pending.add(clone.getAsJsonObject().get("name").getAsString()));
        }
        return new Snapshot(info.get("data_pool").getAsString(), pending);
    }

    /// Converts the reply to `fs clone status`.
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

    /// Returns the copied percentage, which Ceph 19 and later report; otherwise the clone's state.
    private static String progress(JsonObject status) {
        JsonObject report =
                status.has("progress_report") ? status.getAsJsonObject("progress_report") : new JsonObject();
        return report.has("percentage cloned")
                ? report.get("percentage cloned").getAsString()
                : status.get("state").getAsString();
    }
}
