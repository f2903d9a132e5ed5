package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CephSessionsTest {
    private static final VolumeId.Provisioned VOLUME = new VolumeId.Provisioned("lab", "fs", "agroup", "v-1");

    @ParameterizedTest(name = "{0} from {1} is {2}: {3}")
    @CsvSource({
        "node1, 10.1.1.1:0, node1, true",
        "node1, 10.1.1.1:0, node10, false",
        "node1, 10.1.1.1:0, other@10.1.1.1, true",
        "node1, 10.1.1.11:0, other@10.1.1.1, false",
        "node1, [fd00::1]:0, other@fd00::1, true",
        "node1, 10.1.1.1:0, node1@10.9.9.9, true"
    })
    void aSessionIsTheNodesByNameOrAddress(String host, String address, String node, boolean expected) {
        assertEquals(expected, CephSessions.isOf(NodeId.parse(node), session(host, address, "/")));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "/volumes/agroup, true",
        "/volumes/agroup/v-1, true",
        "/volumes/agroup/v-1/uuid, true",
        "/volumes/agroup/v-10, false",
        "/volumes/agroup/v-2/uuid, false",
        "/volumes/agroup2, false",
        "/volumes, false",
        "/, false"
    })
    void aSessionReachesTheVolumeThroughItsGroup(String root, boolean expected) {
        assertEquals(expected, CephSessions.reaches(VOLUME, session("h", "10.1.1.1:0", root)));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"s1:lab:fs:agroup:v-1, true", "s1:lab:fs:agroup:v-2, false"})
    void aSessionThatSaysItsVolumeReachesThatOneOnly(String id, boolean expected) {
        MdsSession session = session("h", "10.1.1.1:0", "/volumes/agroup", "volume_id", id);
        assertEquals(expected, CephSessions.reaches(VOLUME, session));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({
        "siphon.fs.agroup.v-1, true",
        "siphon.fs.agroup.v-1.2, true",
        "siphon.fs.agroup.v-2, false",
        "siphon.fs.agroup.v-2.3, false",
        "siphon.otherfs.agroup.v-2, true",
        "siphon-nodes, true",
        "admin, true"
    })
    void aSessionWithTheKeyOfAVolumeReachesThatOneOnly(String id, boolean expected) {
        MdsSession says = session("h", "10.1.1.1:0", "/volumes/agroup", "entity_id", id);
        assertEquals(expected, CephSessions.reaches(VOLUME, says));
        MdsSession authenticated = new MdsSession(
                1,
                Optional.of(id),
                "10.1.1.1:0",
                Map.of("entity_id", "what the client says", "root", "/volumes/agroup"));
        assertEquals(expected, CephSessions.reaches(VOLUME, authenticated));
    }

    @Test
    void whatAClientSaysDoesNotHideAKeyOfTheVolume() {
        MdsSession liar = new MdsSession(
                1,
                Optional.of("siphon.fs.agroup.v-1.2"),
                "10.1.1.1:0",
                Map.of("volume_id", "none", "root", "/volumes/agroup/none", "entity_id", "admin"));
        assertTrue(CephSessions.reaches(VOLUME, liar));
    }

    @Test
    void aKeyOfTheVolumeMayUseItWhereverItLeads() {
        MdsSession session =
                session("h", "10.1.1.1:0", "/volumes/agroup/h-1/uuid", "entity_id", "siphon.fs.agroup.v-1.2");
        assertTrue(CephSessions.reaches(VOLUME, session));
        assertFalse(CephSessions.reaches(VOLUME, session("h", "10.1.1.1:0", "/")));
    }

    @Test
    void aSessionThatSaysNothingOfItselfIsNobodys() {
        MdsSession bare = MdsSession.list(json("[{\"id\": 1, \"entity\": {\"addr\": {\"addr\": \"10.1.1.1:0\"}}}]"))
                .getFirst();
        assertEquals("10.1.1.1:0", bare.address());
        assertFalse(CephSessions.isOf(NodeId.parse("node1"), bare));
        assertFalse(CephSessions.reaches(VOLUME, bare));
    }

    private static ByteBuffer json(String text) {
        return ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    }

    private static MdsSession session(String host, String address, String root) {
        return session(host, address, root, "more", "");
    }

    private static MdsSession session(String host, String address, String root, String key, String value) {
        JsonObject metadata = new JsonObject();
        metadata.addProperty("hostname", host);
        metadata.addProperty("root", root);
        metadata.addProperty(key, value);
        JsonObject addr = new JsonObject();
        addr.addProperty("type", "v2");
        addr.addProperty("addr", address);
        JsonObject entity = new JsonObject();
        entity.addProperty("name", "client.1");
        entity.add("addr", addr);
        JsonObject session = new JsonObject();
        session.addProperty("id", 7);
        session.add("client_metadata", metadata);
        session.add("entity", entity);
        return MdsSession.list(json("[" + session + "]")).getFirst();
    }
}
