package dev.siphon.controller.ceph.fs;

import com.google.gson.JsonObject;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.fuzz.ParserFuzz;
import org.junit.jupiter.api.Test;

/// What clients of Ceph say of themselves, which an MDS hands on: each value may be anything.
final class SessionsParsingFuzzTest {
    private static final VolumeId.Provisioned VOLUME = new VolumeId.Provisioned("lab", "cephfs", "aone", "pvc-1");

    @Test
    void sessions() {
        ParserFuzz.of(
                        "sessions at an MDS",
                        ParserFuzz.texts(VOLUME.toString(), "10.0.0.1:1234", "[fd00::1]:0", "/volumes/aone/pvc-1/x"),
                        bytes -> session(ParserFuzz.text(bytes)))
                .run();
    }

    private static void session(String said) {
        JsonObject metadata = new JsonObject();
        for (String key : new String[] {"hostname", "root", "volume_id", "entity_id"}) {
            metadata.addProperty(key, said);
        }
        JsonObject session = new JsonObject();
        session.add("client_metadata", metadata);
        var _ = CephSessions.mayUse(VOLUME, session);
        var _ = CephSessions.authenticated(session);
        var _ = CephSessions.ip(said);
    }
}
