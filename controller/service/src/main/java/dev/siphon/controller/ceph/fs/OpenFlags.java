package dev.siphon.controller.ceph.fs;

/// Flags of open(2) with Linux's values on this processor, which libcephfs expects.
final class OpenFlags {
    static final int READ = 0;
    static final int WRITE = 1;
    static final int CREATE = 0100;
    static final int EXCLUSIVE = 0200;

    private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
    static final int DIRECTORY = ARM ? 040000 : 0200000;
    static final int NO_FOLLOW = ARM ? 0100000 : 0400000;

    private OpenFlags() {}
}
