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
import dev.siphon.node.linux.UserNamespace;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import jnr.constants.platform.Errno;

/// Shows a volume so that one user of a container is its account: the files of the one are the other's. Everybody
/// else is left out, so that nobody else makes files there, and no other uid or gid reaches the cluster.
///
/// @param staged the mount that is to be shown, which is not idmapped itself
/// @param account whose the volume is
/// @param user who that is in the container
record Idmapping(VolumeId volume, MountEntry staged, FileOwner account, FileOwner user) {
    /// Exists for a moment in the volume, when a node shows it for the first time.
    private static final String PROBE = ".siphon-idmap";

    private static final int PROBE_MODE = 0700;
    private static final FileOwner ROOT = new FileOwner(0, 0);

    /// What `wanted` means for a volume. Whose it is tells its top directory: the volume's context would say what
    /// it was when it was made.
    ///
    /// @param source the top directory, by way of `staged`
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it belongs to root: nobody is to become that
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

    /// Whether what is published at `target` shows the volume so. An account that became another one meanwhile is
    /// nobody there.
    boolean isAt(MountEntry published, DirectoryHandle target) {
        return published.isIdmapped() && target.owner().equals(user);
    }

    /// Prepares `mount`, a clone of the staged one.
    ///
    /// @param limit for what it takes beside the system call
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if client, kernel or node cannot do that, with what to
    ///     do instead
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
                            + " client (mounter: kernel) and Linux 6.7");
                case EPERM -> refused("this node's process may not idmap mounts (CAP_SYS_ADMIN)");
                default -> SystemErrors.translate("idmapping volume " + volume, e);
            };
        }
    }

    /// Makes a directory in the volume as a container would, sees whose it is, and removes it. An MDS that cannot
    /// be told the owner of a file beside the one who asks (`CEPHFS_FEATURE_HAS_OWNER_UIDGID`) is found no other
    /// way: the kernel then fails whatever would make a file, with EIO (`create_request_message` of
    /// `fs/ceph/mds_client.c`).
    ///
    /// What cannot be written for another reason, such as a quota that is reached, is not found out about.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if the MDS is such a one
    void prove(DirectoryHandle source, Duration limit) {
        try (DetachedMount mount = source.cloneMount()) {
            // whoever is the container's user, this process is root
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
                throw refused("the cluster's MDS cannot be told whose a new file is; update Ceph, or set"
                        + " enable_unsafe_idmap=1 of the kernel's module ceph");
            }
        }
    }

    /// A run that was killed may have left the probe. What cannot be removed is somebody else's, such as a file,
    /// or a directory with something in it, and must not keep the volume from being tried.
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
