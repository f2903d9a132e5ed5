package dev.siphon.controller.ceph;

import dev.siphon.controller.ceph.call.CephErrno;
import dev.siphon.controller.ceph.rados.CephCommand;
import dev.siphon.controller.ceph.rados.CephCommand.Daemon;
import dev.siphon.controller.ceph.rados.CephConnection;
import dev.siphon.controller.ceph.rados.CommandReply;
import dev.siphon.controller.volume.Quiesce;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;

/// Implements [Quiesce] with the mgr's `fs quiesce` (doc/cephfs/multimds, "Quiesce Sets"), not in Ceph 18.
final class CephQuiesce implements Quiesce {
    private final Function<String, CephConnection> connections;

    CephQuiesce(Function<String, CephConnection> connections) {
        this.connections = connections;
    }

    @Override
    public boolean acquire(String set, List<VolumeId.Provisioned> members, Duration timeout, Duration expiration) {
        CommandReply reply = call(
                members,
                command(set, members)
                        .with("reset", true)
                        .with("timeout", seconds(timeout))
                        .with("expiration", seconds(expiration))
                        .with("await", true));
        if (isUnknown(reply)) {
            return false;
        }
        if (reply.returnCode() != 0) {
            throw new DriverException.BackendUnavailable(
                    "clients did not stop writing in time for " + set + ": " + reply.words() + "; retry");
        }
        return true;
    }

    @Override
    public boolean release(String set, List<VolumeId.Provisioned> members) {
        CommandReply reply = call(
                members, command(set, List.of(), members).with("release", true).with("await", true));
        return reply.returnCode() == 0;
    }

    /// Returns whether the mgr lacks the command: Ceph 18 does, and a mgr can be older than its cluster.
    private static boolean isUnknown(CommandReply reply) {
        return reply.is(CephErrno.EOPNOTSUPP)
                || (reply.is(CephErrno.EINVAL)
                        && (reply.words().contains("No handler found")
                                || reply.words().contains("no valid command")));
    }

    private CommandReply call(List<VolumeId.Provisioned> members, CephCommand command) {
        return connections.apply(members.getFirst().cluster()).call(command);
    }

    private static CephCommand command(String set, List<VolumeId.Provisioned> members) {
        return command(set, members, members);
    }

    private static CephCommand command(
            String set, List<VolumeId.Provisioned> named, List<VolumeId.Provisioned> members) {
        CephCommand command = CephCommand.change(Daemon.MGR, "fs quiesce")
                .with("vol_name", members.getFirst().fileSystem())
                .with("set_id", set);
        return named.isEmpty()
                ? command
                : command.with(
                        "members",
                        named.stream()
                                .map(member -> member.group() + "/" + member.subvolume())
                                .toList());
    }

    /// Returns a `double`: the MDS accepts only numbers with a decimal point.
    private static double seconds(Duration duration) {
        return duration.toMillis() / 1e3;
    }
}
