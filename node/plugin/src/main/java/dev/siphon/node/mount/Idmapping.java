package dev.siphon.node.mount;

import dev.siphon.csi.ContainerUser;
import dev.siphon.csi.DriverException;
import dev.siphon.csi.VolumeId;
import dev.siphon.node.linux.DetachedMount;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import dev.siphon.node.linux.FileOwner;
import dev.siphon.node.linux.MountEntry;
import dev.siphon.node.linux.MountFlag;
import dev.siphon.node.linux.SystemErrors;
import dev.siphon.node.linux.UserNamespace;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import jnr.constants.platform.Errno;

/// Maps the account that owns a volume to one user of a container, so that each owns the other's files. Nobody else
/// is mapped: others cannot create files there, and no other uid or gid reaches the cluster.
///
/// @param staged the mount to publish, which is not id-mapped itself
/// @param account the volume's owner
/// @param user the owner's uid and gid in the container
record Idmapping(VolumeId volume, MountEntry staged, FileOwner account, FileOwner user) {
    /// Created in the volume for a moment, when a node publishes it id-mapped for the first time.
    private static final String PROBE = ".siphon-idmap";

    private static final int PROBE_MODE = 0700;
    private static final FileOwner ROOT = new FileOwner(0, 0);

    /// Returns the mapping that `wanted` asks for. The owner is that of the volume's top directory: the volume's
    /// context only knows the owner at its creation.
    ///
    /// @param source the top directory, reached through `staged`
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the directory belongs to root: no container user may
    ///     become root
    static Idmapping of(VolumeId volume, MountEntry staged, DirectoryHandle source, ContainerUser wanted) {
        FileOwner account = source.owner();
        if (account.uid() == 0 || account.gid() == 0) {
            throw new DriverException.InUse("volume " + volume + " cannot be published with " + ContainerUser.KEY
                    + ": its directory belongs to " + account + ", and no user of a container is made root; leave "
                    + ContainerUser.KEY + " out");
        }
        FileOwner user = switch (wanted) {
            case ContainerUser.Numbered numbered -> new FileOwner(numbered.uid(), numbered.gid());
            case ContainerUser.Same _ -> account;
        };
        return new Idmapping(volume, staged, account, user);
    }

    /// Whether the mount at `target` has this mapping. If the volume's owner has changed since, the old owner shows
    /// as nobody.
    boolean isAt(MountEntry published, DirectoryHandle target) {
        return published.isIdmapped() && target.owner().equals(user);
    }

    /// Applies the mapping to `mount`, a clone of the staged mount.
    ///
    /// @param limit the time for everything but the system call
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if client, kernel or node do not support it; the message
    ///     names an alternative
    void apply(DetachedMount mount, Set<MountFlag> flags, Duration limit) {
        apply(mount, flags, user, limit);
    }

    private void apply(DetachedMount mount, Set<MountFlag> flags, FileOwner shown, Duration limit) {
        try (UserNamespace owners = UserNamespace.mapping(account, shown, limit)) {
            mount.restrict(flags, owners);
        } catch (UncheckedIOException e) {
            throw refused("this node's process may not make a user namespace (" + e.getMessage()
                    + "), see user.max_user_namespaces and its capabilities");
        } catch (ErrnoException e) {
            throw switch (e.errno()) {
                case EINVAL ->
                    refused("it is mounted as " + staged.type() + ", and Linux "
                            + System.getProperty("os.version") + " cannot map its users: that takes the kernel's"
                            + " client (mounter: kernel) and Linux 6.7, or a kernel with that from its distribution");
                case EPERM -> refused("this node's process may not idmap mounts (CAP_SYS_ADMIN)");
                default -> SystemErrors.translate("idmapping volume " + volume, e);
            };
        }
    }

    /// Creates a directory in the volume as a container would, checks its owner, and removes it. Some MDS cannot
    /// take a new file's owner apart from the caller (`CEPHFS_FEATURE_HAS_OWNER_UIDGID`). Only a write reveals
    /// that: the kernel then fails every create with EIO (`create_request_message` of `fs/ceph/mds_client.c`).
    ///
    /// Ignores other write errors, such as a full quota.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the MDS lacks that feature
    /// @throws DriverException.BackendFault (INTERNAL) if the new directory has another owner than the account
    void prove(DirectoryHandle source, Duration limit) {
        try (DetachedMount mount = source.cloneMount()) {
            // this process is root, whatever the container's user is
            apply(mount, staged.flags(), ROOT, limit);
            String probe = freeName(source);
            mount.makeDirectory(probe, PROBE_MODE);
            try {
                checkOwner(source, probe);
            } finally {
                remove(source, probe);
            }
        } catch (ErrnoException e) {
            if (e.is(Errno.EIO)) {
                throw refused("the cluster's MDS does not accept an owner for new files; update Ceph, or set"
                        + " enable_unsafe_idmap=1 for the kernel's module ceph");
            }
        }
    }

    /// Returns a free name for the probe. A killed process may have left the probe: it is removed. If that fails,
    /// somebody else owns it (a file, or a directory with content), and another name serves.
    private static String freeName(DirectoryHandle source) {
        return remove(source, PROBE) ? PROBE : PROBE + "-" + UUID.randomUUID();
    }

    private static boolean remove(DirectoryHandle source, String name) {
        try {
            source.removeDirectory(name);
            return true;
        } catch (ErrnoException _) {
            return false;
        }
    }

    private void checkOwner(DirectoryHandle source, String probe) {
        try (DirectoryHandle made = source.openBelow(probe)) {
            FileOwner owner = made.owner();
            if (!owner.equals(account)) {
                throw new DriverException.BackendFault("a directory that root makes as " + account + " in volume "
                        + volume + " belongs to " + owner + "; an administrator has to look");
            }
        }
    }

    private DriverException refused(String why) {
        return new DriverException.InUse("volume " + volume + " cannot be published with " + ContainerUser.KEY + ": "
                + why + ". Or leave " + ContainerUser.KEY + " out, and run the container as runAsUser: "
                + account.uid() + ", runAsGroup: " + account.gid());
    }
}
