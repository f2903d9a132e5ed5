package dev.siphon.controller.ceph.rados;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.csi.DriverException;

/// What a daemon answered to a command.
///
/// @param what the command and the cluster, for messages
/// @param returnCode 0, or a negative error number
/// @param output the command's result
/// @param words what the daemon has to say about it, for people
public record CommandReply(String what, int returnCode, String output, String words) {
    /// Whether the daemon refused with this error.
    public boolean is(CephErrno errno) {
        return returnCode != 0 && errno.is(returnCode);
    }

    /// `ok`, or the name of the errno, for metrics.
    String result() {
        return returnCode == 0 ? "ok" : CephErrno.of(returnCode).map(Enum::name).orElse("other");
    }

    /// The error that the return code means, not thrown.
    public DriverException failure() {
        return CephErrno.failure(returnCode, what, words);
    }

    /// This reply.
    ///
    /// @throws DriverException as [CephErrno] has it, if the daemon refused
    public CommandReply orThrow() {
        if (returnCode != 0) {
            throw failure();
        }
        return this;
    }

    /// The result as JSON.
    ///
    /// @throws DriverException as [CephErrno] has it, if the daemon refused; [DriverException.BackendFault]
    ///     if the result is not JSON
    public JsonElement json() {
        orThrow();
        try {
            return JsonParser.parseString(output);
        } catch (JsonParseException e) {
            throw new DriverException.BackendFault(what + " answered something that is not JSON", e);
        }
    }
}
