package dev.siphon.node.unpack;

import dev.siphon.node.fetch.Bucket;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.image.WorkerPool;
import dev.siphon.node.linux.DirectoryHandle;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/// The objects of a folder in a bucket, each a file. A key that ends in a slash is a directory.
record BucketTree(Bucket bucket) {
    private static final int PERMISSIONS = 0644;
    private static final int DIRECTORY_PERMISSIONS = 0755;

    /// How many objects are read at once.
    private static final int PARALLEL = 8;

    /// Passes the names and sizes of all objects to `sink`, and no content.
    void check(TreeSink sink) {
        Bucket.Listing listing = bucket.list();
        for (Optional<Bucket.Listed> next = listing.next(); next.isPresent(); next = listing.next()) {
            pass(next.get(), sink);
        }
    }

    /// Writes all objects below `root`, several at once; those of an earlier run stay.
    void write(DirectoryHandle root, TreeLimits limits, TreeListener listener) {
        Bucket.Listing listing = bucket.list();
        AtomicBoolean isOver = new AtomicBoolean();
        WorkerPool.run("fetch", PARALLEL, new WorkerPool.Work() {
            @Override
            public void untilDone() {
                try (TreeBuilder builder = new TreeBuilder(root, limits, listener)) {
                    ResumedTree tree = new ResumedTree(builder);
                    for (Optional<Bucket.Listed> next = listing.next();
                            next.isPresent() && !isOver.get();
                            next = listing.next()) {
                        pass(next.get(), tree);
                    }
                }
            }

            @Override
            public void giveUp() {
                isOver.set(true);
            }
        });
        try (TreeBuilder builder = new TreeBuilder(root, limits, listener)) {
            builder.finish();
        }
    }

    private void pass(Bucket.Listed listed, TreeSink sink) {
        String name = listed.name();
        MemberPath path = MemberPath.of(name.getBytes(StandardCharsets.UTF_8));
        if (name.contains("//") || ("/" + name + "/").contains("/./")) {
            throw path.refused(
                    "has a key with an empty name or \".\" in it, which no file can have: rename the object");
        }
        boolean isDirectory = name.endsWith("/");
        Instant modified = listed.object().modified();
        TreeSink.Attributes attributes = new TreeSink.Attributes(
                isDirectory ? DIRECTORY_PERMISSIONS : PERMISSIONS, modified.getEpochSecond(), modified.getNano());
        if (!isDirectory) {
            try {
                sink.file(
                        path,
                        attributes,
                        listed.object().bytes(),
                        target -> bucket.read(listed.object(), target::write));
            } catch (IOException e) {
                throw new FetchFailure(Reason.SOURCE_UNAVAILABLE, path.shown() + " cannot be read: " + e.getMessage());
            }
        } else if (listed.object().bytes() == 0) {
            sink.directory(path, attributes);
        } else {
            throw path.refused("has a key that ends in a slash, but is not empty: rename the object");
        }
    }
}
