package dev.siphon.controller.ceph.fs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import dev.siphon.csi.NodeId;
import dev.siphon.csi.VolumeId;
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
        JsonObject session = session("h", "10.1.1.1:0", "/volumes/agroup");
        session.getAsJsonObject("client_metadata").addProperty("volume_id", id);
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
        JsonObject says = session("h", "10.1.1.1:0", "/volumes/agroup");
        says.getAsJsonObject("client_metadata").addProperty("entity_id", id);
        assertEquals(expected, CephSessions.reaches(VOLUME, says));
        JsonObject authenticated = session("h", "10.1.1.1:0", "/volumes/agroup");
        authenticated.getAsJsonObject("client_metadata").addProperty("entity_id", "what the client says");
        JsonObject name = new JsonObject();
        name.addProperty("id", id);
        authenticated.add("auth_name", name);
        assertEquals(expected, CephSessions.reaches(VOLUME, authenticated));
    }

    @Test
    void aKeyOfTheVolumeMayUseItWhereverItLeads() {
        JsonObject session = session("h", "10.1.1.1:0", "/volumes/agroup/h-1/uuid");
        session.getAsJsonObject("client_metadata").addProperty("entity_id", "siphon.fs.agroup.v-1.2");
        assertTrue(CephSessions.mayUse(VOLUME, session));
        assertFalse(CephSessions.mayUse(VOLUME, session("h", "10.1.1.1:0", "/")));
    }

    @Test
    void aSessionThatSaysNothingOfItselfIsNobodys() {
        JsonObject bare = JsonParser.parseString("{\"id\": 1, \"entity\": {\"addr\": {\"addr\": \"10.1.1.1:0\"}}}")
                .getAsJsonObject();
        assertFalse(CephSessions.isOf(NodeId.parse("node1"), bare));
        assertFalse(CephSessions.reaches(VOLUME, bare));
    }

    private static JsonObject session(String host, String address, String root) {
        JsonObject metadata = new JsonObject();
        metadata.addProperty("hostname", host);
        metadata.addProperty("root", root);
        JsonObject addr = new JsonObject();
        addr.addProperty("addr", address);
        JsonObject entity = new JsonObject();
        entity.add("addr", addr);
        JsonObject session = new JsonObject();
        session.add("client_metadata", metadata);
        session.add("entity", entity);
        return session;
    }
}
