package dev.siphon.node.linux;

/// The owner of a file.
public record FileOwner(long uid, long gid) {
    @Override
    public String toString() {
        return uid + ":" + gid;
    }
}
