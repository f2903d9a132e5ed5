package dev.siphon.node.tar;

/// A tar in memory.
public final class InMemory implements TarBytes {
    private final byte[] tar;

    public InMemory(byte[] tar) {
        this.tar = tar;
    }

    @Override
    public long size() {
        return tar.length;
    }

    @Override
    public void read(long offset, byte[] target, int length) {
        System.arraycopy(tar, (int) offset, target, 0, length);
    }
}
