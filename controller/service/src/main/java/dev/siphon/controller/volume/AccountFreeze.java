package dev.siphon.controller.volume;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;

/// Checks whether an administrator has frozen an account, as `siphon user offboard` does. The attribute
/// `user.siphon.frozen` of the group's directory marks it. A frozen account gets nothing new. Its data stays, but
/// its keys and sessions are taken away by [dev.siphon.controller.offboard.Freezer].
public final class AccountFreeze {
    /// Name of the note on a frozen group's directory; its value is the time of the freeze.
    public static final String NOTE = "frozen";

    private final FileTree files;

    public AccountFreeze(FileTree files) {
        this.files = files;
    }

    /// Returns whether the account is frozen; false if its group does not exist. The client caches the attribute
    /// until it changes, so this is always current and seldom costs a round trip to the MDS.
    public boolean isFrozen(SubvolumeGroup group) {
        return files.note(group.cluster(), group.fileSystem(), group.path(), NOTE)
                .isPresent();
    }

    /// Refuses to create anything for a frozen account.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if it is frozen
    public void check(SubvolumeGroup group) {
        if (isFrozen(group)) {
            String name = name(group);
            throw new DriverException.InUse("account " + QuotedText.of(name) + " (" + group
                    + ") is frozen, so nothing is created for it; siphon user offboard " + name
                    + " --unfreeze ends that");
        }
    }

    /// Returns the account's name; the group's if no name was recorded, which that command takes too.
    private String name(SubvolumeGroup group) {
        return files.note(group.cluster(), group.fileSystem(), group.path(), AccountNote.NAME)
                .flatMap(AccountNote::parse)
                .map(AccountNote::name)
                .orElse(group.name());
    }
}
