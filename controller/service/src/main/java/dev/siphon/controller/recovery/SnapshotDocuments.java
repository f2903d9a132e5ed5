package dev.siphon.controller.recovery;

import com.google.gson.JsonObject;
import dev.siphon.csi.SnapshotId;
import java.util.List;

/// Builds VolumeSnapshots for existing snapshots (Kubernetes, "Volume Snapshots": pre-provisioned).
///
/// @param driver the CSI driver's name
record SnapshotDocuments(String driver) {
    private static final String NAME = "name";
    private static final String NAMESPACE = "namespace";
    private static final String CLASS = "volumeSnapshotClassName";

    /// Returns the VolumeSnapshot and the VolumeSnapshotContent that it is bound to.
    List<Document> of(SnapshotId snapshot, RecordNotes.RecordedSnapshot asked) {
        String content = "siphon-" + snapshot.volume().subvolume() + "-" + snapshot.name();
        JsonObject source = new JsonObject();
        source.addProperty("volumeSnapshotContentName", content);
        JsonObject spec = new JsonObject();
        spec.add("source", source);
        classOf(asked, spec);
        JsonObject metadata = new JsonObject();
        metadata.addProperty(NAMESPACE, asked.namespace());
        metadata.addProperty(NAME, asked.name());
        return List.of(
                Document.of(content(content, snapshot, asked)), Document.of(object("VolumeSnapshot", metadata, spec)));
    }

    private JsonObject content(String name, SnapshotId snapshot, RecordNotes.RecordedSnapshot asked) {
        JsonObject source = new JsonObject();
        source.addProperty("snapshotHandle", snapshot.toString());
        JsonObject reference = new JsonObject();
        reference.addProperty(NAMESPACE, asked.namespace());
        reference.addProperty(NAME, asked.name());
        JsonObject spec = new JsonObject();
        spec.addProperty("deletionPolicy", "Delete");
        spec.addProperty("driver", driver);
        spec.add("source", source);
        spec.addProperty("sourceVolumeMode", "Filesystem");
        classOf(asked, spec);
        spec.add("volumeSnapshotRef", reference);
        JsonObject metadata = new JsonObject();
        metadata.addProperty(NAME, name);
        return object("VolumeSnapshotContent", metadata, spec);
    }

    private static void classOf(RecordNotes.RecordedSnapshot asked, JsonObject spec) {
        if (!asked.className().isEmpty()) {
            spec.addProperty(CLASS, asked.className());
        }
    }

    private static JsonObject object(String kind, JsonObject metadata, JsonObject spec) {
        JsonObject object = new JsonObject();
        object.addProperty("apiVersion", "snapshot.storage.k8s.io/v1");
        object.addProperty("kind", kind);
        object.add("metadata", metadata);
        object.add("spec", spec);
        return object;
    }
}
