package dev.siphon.controller.ceph.call;

/// A handle of one of Ceph's libraries, with the calls on it.
public interface NativeHandle {
    /// The calls on this handle; nothing is called outside of them.
    NativeCalls calls();

    /// Closes the handle; its calls have all returned.
    void close();
}
