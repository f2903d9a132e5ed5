package dev.siphon.controller.ceph.rados;

import com.google.gson.JsonElement;
import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.csi.DriverException;

/// A daemon's reply to a command.
///
/// @param what the command and the cluster, for messages
/// @param returnCode 0, or a negative errno
/// @param output the command's result
/// @param words the daemon's message, for people
public record CommandReply(String what, int returnCode, String output, String words) {
    /// Returns whether the daemon refused with this error.
    public boolean is(CephErrno errno) {
        return returnCode != 0 && errno.is(returnCode);
    }

    /// Returns `ok`, the name of the errno, or `other`, for metrics.
    String result() {
        return returnCode == 0 ? "ok" : CephErrno.of(returnCode).map(Enum::name).orElse("other");
    }

    /// Returns the exception for the return code without throwing it.
    public DriverException failure() {
        return CephErrno.failure(returnCode, what, words);
    }

    /// Returns this reply.
    ///
    /// @throws DriverException by [CephErrno], if the daemon refused
    public CommandReply orThrow() {
        if (returnCode != 0) {
            throw failure();
        }
        return this;
    }

    /// Returns the result as JSON.
    ///
    /// @throws DriverException by [CephErrno], if the daemon refused; [DriverException.BackendFault] (INTERNAL)
    ///     if the result is not JSON
    public JsonElement json() {
        orThrow();
        try {
            return JsonParser.parseString(output);
        } catch (JsonParseException e) {
            throw new DriverException.BackendFault(what + " answered with something that is not JSON", e);
        }
    }
}
