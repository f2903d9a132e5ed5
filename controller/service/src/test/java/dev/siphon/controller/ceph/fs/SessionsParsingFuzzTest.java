package dev.siphon.controller.ceph.fs;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/// Fuzzes the client metadata that an MDS passes on: each value may be anything.
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

    @Test
    void repliesOfAnMds() {
        ParserFuzz.of(
                        "replies of an MDS",
                        ParserFuzz.texts("""
                                [{"id": 1, "auth_name": {"type": 8, "id": "a"}, "entity": {"addr": {"addr": "1.2.3.4:0"}},
                                  "client_metadata": {"hostname": "n\\u0031", "root": "/volumes", "a": {"b": [1, null]}}}]"""),
                        bytes -> MdsSession.list(ByteBuffer.wrap(bytes)),
                        DriverException.BackendFault.class)
                .run();
    }

    private static void session(String said) {
        Map<String, String> says = new HashMap<>();
        for (String key : new String[] {"hostname", "root", "volume_id", "entity_id"}) {
            says.put(key, said);
        }
        MdsSession session = new MdsSession(1, Optional.empty(), said, says);
        var _ = CephSessions.reaches(VOLUME, session);
        var _ = CephSessions.authenticated(session);
        var _ = CephSessions.ip(said);
    }
}
