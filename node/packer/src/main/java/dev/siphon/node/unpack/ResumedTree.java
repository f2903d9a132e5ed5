package dev.siphon.node.unpack;

import java.io.IOException;

/// Leaves files as they are that an earlier run has written.
record ResumedTree(TreeBuilder builder) implements TreeSink {
    @Override
    public void directory(MemberPath path, Attributes attributes) {
        builder.directory(path, attributes);
    }

    @Override
    public void file(MemberPath path, Attributes attributes, long bytes, Content content) throws IOException {
        if (builder.has(path, attributes, bytes)) {
            builder.kept(bytes);
        } else {
            builder.file(path, attributes, bytes, content);
        }
    }

    @Override
    public void symlink(MemberPath path, String target) {
        builder.symlink(path, target);
    }

    @Override
    public void hardLink(MemberPath path, MemberPath existing) {
        builder.hardLink(path, existing);
    }
}
