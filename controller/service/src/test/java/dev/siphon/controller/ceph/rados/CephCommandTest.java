package dev.siphon.controller.ceph.rados;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.csi.DriverException;
import java.util.List;
import org.junit.jupiter.api.Test;

class CephCommandTest {
    @Test
    void theJsonHoldsPrefixFormatAndArguments() {
        CephCommand command = CephCommand.change(Daemon.MGR, "fs subvolume create")
                .with("sub_name", "v\"1\\")
                .with("size", 1L << 40)
                .with("timeout", 10.0)
                .with("namespace_isolated", true)
                .with("members", List.of("a/b", "c"));
        assertEquals(JsonParser.parseString("""
                        {"prefix": "fs subvolume create", "format": "json", "sub_name": "v\\"1\\\\",
                         "size": 1099511627776, "timeout": 10.0, "namespace_isolated": true, "members": ["a/b", "c"]}"""), JsonParser.parseString(command.json()));
        assertTrue(command.json().contains("10.0"), "a float stays one");
    }

    @Test
    void anArgumentCannotChangeWhatTheCommandIs() {
        String json =
                CephCommand.read(Daemon.MON, "fs ls").with("prefix", "auth ls").json();
        assertEquals(
                "fs ls",
                JsonParser.parseString(json).getAsJsonObject().get("prefix").getAsString());
    }

    @Test
    void addingToACommandLeavesItAlone() {
        CephCommand command = CephCommand.read(Daemon.MON, "df");
        assertFalse(command.with("detail", "detail").json().equals(command.json()));
        assertTrue(command.repeatable());
        assertFalse(CephCommand.change(Daemon.MON, "x").with("a", 1L).repeatable());
    }

    @Test
    void aReplyIsReadOrRefused() {
        assertEquals(
                1, new CommandReply("w", 0, "[{}]", "").json().getAsJsonArray().size());
        CommandReply refused = new CommandReply("w", -2, "", "no such thing");
        assertTrue(refused.is(CephErrno.ENOENT));
        assertThrows(DriverException.NotFound.class, refused::json);
        assertThrows(DriverException.BackendFault.class, () -> new CommandReply("w", 0, "{", "").json());
    }
}
