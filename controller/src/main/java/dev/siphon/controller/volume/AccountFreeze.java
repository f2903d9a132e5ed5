package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;

/// Accounts that an administrator has frozen, as `siphon user offboard` does: the attribute
/// `user.siphon.frozen` of the group's directory says so. Nothing is made for them any more; what they have stays.
public final class AccountFreeze {
    /// The note on a group that is frozen; its value is when.
    public static final String NOTE = "frozen";

    private final FileTree files;

    public AccountFreeze(FileTree files) {
        this.files = files;
    }

    /// Whether the account is frozen. A group that is not there is not. The client holds the attribute until
    /// somebody changes it, so this seldom is a round trip to the MDS, and is true from the moment that it is
    /// set.
    public boolean isFrozen(SubvolumeGroup group) {
        return files.note(group.cluster(), group.fileSystem(), group.path(), NOTE)
                .isPresent();
    }

    /// Refuses to make anything for a frozen account.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is frozen
    public void check(SubvolumeGroup group) {
        if (isFrozen(group)) {
            throw new DriverException.InUse("the account of " + group
                    + " is frozen: nothing is made for it; siphon user offboard --unfreeze lets it go on");
        }
    }
}
