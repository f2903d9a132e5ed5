package dev.siphon.node.linux;

/// Whose a file is.
public record FileOwner(long uid, long gid) {
    @Override
    public String toString() {
        return uid + ":" + gid;
    }
}
