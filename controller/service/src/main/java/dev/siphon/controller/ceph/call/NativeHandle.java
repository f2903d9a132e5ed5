package dev.siphon.controller.ceph.call;

/// A handle of one of Ceph's libraries, with its calls.
public interface NativeHandle {
    /// Returns the calls on this handle; nothing may call the handle in another way.
    NativeCalls calls();

    /// Closes the handle. All its calls must have returned.
    void close();
}
