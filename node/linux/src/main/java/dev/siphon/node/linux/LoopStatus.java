package dev.siphon.node.linux;

/// The kernel's status of a configured loop device (`LOOP_GET_STATUS64`).
///
/// @param number the N of `/dev/loopN`
/// @param device `major:minor`, as in [MountEntry#device]
/// @param backing the current backing file
/// @param tag the tag passed to [LoopDevice#attach], or a path if another program configured the device
/// @param readOnly whether it rejects writes
/// @param directIo whether it bypasses the page cache of the file system below
/// @param autoClear whether the kernel frees it with its last user
public record LoopStatus(
        int number,
        String device,
        FileIdentity backing,
        String tag,
        boolean readOnly,
        boolean directIo,
        boolean autoClear) {}
