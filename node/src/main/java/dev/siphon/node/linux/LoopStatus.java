package dev.siphon.node.linux;

/// What the kernel says of a configured loop device (`LOOP_GET_STATUS64`).
///
/// @param number of `/dev/loopN`
/// @param device `major:minor`, as in [MountEntry#device]
/// @param backing the file behind it now
/// @param tag what [LoopDevice#attach] was given, or a path if another program configured the device
/// @param readOnly whether it refuses writes
/// @param directIo whether it reads past the page cache of the file system behind it
/// @param autoClear whether it goes with its last user
public record LoopStatus(
        int number,
        String device,
        FileIdentity backing,
        String tag,
        boolean readOnly,
        boolean directIo,
        boolean autoClear) {}
