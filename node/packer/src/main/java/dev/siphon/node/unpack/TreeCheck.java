package dev.siphon.node.unpack;

/// Reads a source once and writes nothing: after that, the source is known to be a safe tree within the limits.
record TreeCheck(TreeLimits limits) implements TreeSink {
    @Override
    public void directory(MemberPath path, Attributes attributes) {
        limits.addFile();
    }

    @Override
    public void file(MemberPath path, Attributes attributes, long bytes, Content content) {
        limits.addFile();
        limits.addBytes(bytes);
    }

    @Override
    public void symlink(MemberPath path, String target) {
        limits.addFile();
        boolean _ = path.checkTarget(target);
    }

    @Override
    public void hardLink(MemberPath path, MemberPath existing) {
        limits.addFile();
    }
}
