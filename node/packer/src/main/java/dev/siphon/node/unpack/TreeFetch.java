package dev.siphon.node.unpack;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.QuotedText;
import dev.siphon.node.fetch.Bucket;
import dev.siphon.node.fetch.Download;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.fetch.WebAddress;
import dev.siphon.node.image.DownloadFile;
import dev.siphon.node.linux.DirectoryHandle;
import dev.siphon.node.linux.ErrnoException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import java.util.Set;

/// Fetches a tree into a directory. A source is checked as a whole before anything of it is written. A run that was
/// killed is repeated: downloads resume, objects and files that are there stay, and an archive is unpacked anew.
public final class TreeFetch {
    private static final Set<PosixFilePermission> READABLE = PosixFilePermissions.fromString("rw-r--r--");

    private final FetchRequest request;
    private final TreeListener listener;

    public TreeFetch(FetchRequest request, TreeListener listener) {
        this.request = request;
        this.listener = listener;
    }

    /// What was fetched.
    ///
    /// @param bytes of all files
    /// @param files files, directories and links
    public record Result(long bytes, long files) {}

    /// Fetches the tree; it is complete and on disk on return. May be repeated.
    ///
    /// @throws FetchFailure with the reason
    public Result run() {
        try (WorkDirectory work = WorkDirectory.open(request.into())) {
            boolean isThere = work.isComplete();
            TreeLimits written = isThere ? count(work.data()) : limits();
            if (!isThere) {
                fetch(work, written);
                work.publish();
            }
            work.remove();
            return new Result(written.bytes(), written.files());
        } catch (DriverException e) {
            throw FetchFailure.of(e);
        } catch (ErrnoException e) {
            throw WorkDirectory.failure(request.into(), e);
        }
    }

    /// @param written counts what the tree has
    private void fetch(WorkDirectory work, TreeLimits written) {
        switch (request.source()) {
            case FetchSource.Web(Download.Source source) -> {
                download(source, work);
                work.removeTree();
                Optional<Archive> archive = ArchiveFormat.of(work.download(), name(source.address()));
                if (archive.isPresent()) {
                    unpack(archive.get(), work, written, source.address().shown());
                } else {
                    keep(work, written, name(source.address()));
                }
            }
            case FetchSource.Folder(Path folder) -> copy(new FolderTree(folder), work, written, folder.toString());
            case FetchSource.Objects(var location) -> {
                try (Bucket bucket = new Bucket(location, request.limits())) {
                    BucketTree tree = new BucketTree(bucket);
                    listener.begin("checking", -1);
                    TreeLimits found = limits();
                    tree.check(new TreeCheck(found));
                    listener.begin("copying", found.bytes());
                    inTree(work, root -> tree.write(root, written, listener));
                }
            }
        }
    }

    private TreeLimits limits() {
        return new TreeLimits(request.maxBytes(), request.maxFiles());
    }

    private void download(Download.Source source, WorkDirectory work) {
        listener.begin("downloading", -1);
        TreeLimits limits = limits();
        try (DownloadFile file = DownloadFile.open(work.download(), work.downloadOrigin(), source.address())) {
            new Download(source, file, request.limits(), (done, all) -> {
                        limits.checkDownload(Math.max(done, all));
                        listener.downloaded(done, all);
                    })
                    .run();
        }
    }

    private void unpack(Archive archive, WorkDirectory work, TreeLimits written, String shown) {
        listener.begin("checking", -1);
        TreeLimits found = limits();
        read(archive, new TreeCheck(found), shown);
        listener.begin("unpacking", found.bytes());
        inTree(work, root -> {
            try (TreeBuilder builder = new TreeBuilder(root, written, listener)) {
                read(archive, builder, shown);
                builder.finish();
            }
        });
    }

    private void copy(Archive folder, WorkDirectory work, TreeLimits written, String path) {
        String shown = QuotedText.of(path);
        listener.begin("checking", -1);
        TreeLimits found = limits();
        read(folder, new TreeCheck(found), shown);
        listener.begin("copying", found.bytes());
        inTree(work, root -> {
            try (TreeBuilder builder = new TreeBuilder(root, written, listener)) {
                read(folder, new ResumedTree(builder), shown);
                builder.finish();
            }
        });
    }

    /// Keeps the download, which is a single file.
    private static void keep(WorkDirectory work, TreeLimits written, String name) {
        work.makeTree();
        try {
            written.addFile();
            written.addBytes(Files.size(work.download()));
            Files.setPosixFilePermissions(work.download(), READABLE);
            Files.move(work.download(), work.tree().resolve(name));
        } catch (IOException e) {
            throw WorkDirectory.failure(work.tree(), e);
        }
    }

    private interface Writing {
        void in(DirectoryHandle root);
    }

    private static void inTree(WorkDirectory work, Writing writing) {
        work.makeTree();
        try (DirectoryHandle root = DirectoryHandle.open(real(work.tree()).toString())) {
            writing.in(root);
        }
    }

    private static Path real(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException e) {
            throw WorkDirectory.failure(path, e);
        }
    }

    private static void read(Archive archive, TreeSink sink, String shown) {
        try {
            archive.read(sink);
        } catch (EOFException e) {
            throw new FetchFailure(Reason.MALFORMED, shown + " is cut off, and cannot be unpacked: " + e.getMessage());
        } catch (IOException e) {
            throw new FetchFailure(
                    Reason.MALFORMED,
                    shown + " is damaged, and cannot be unpacked: " + e.getMessage() + "; make it again");
        }
    }

    /// Returns the last name of the address, for a single file.
    private static String name(WebAddress address) {
        String decoded = String.valueOf(address.uri().getPath());
        // whatever the locale, a name of ASCII is a name
        String path = decoded.chars().allMatch(each -> each >= ' ' && each <= '~')
                ? decoded
                : address.uri().getRawPath();
        String name = path.substring(path.lastIndexOf('/') + 1);
        return name.isEmpty() || name.equals(".") || name.equals("..") ? "file" : name;
    }

    private static TreeLimits count(Path data) {
        TreeLimits found = new TreeLimits(Long.MAX_VALUE, Long.MAX_VALUE);
        read(new FolderTree(real(data)), new TreeCheck(found), QuotedText.of(data.toString()));
        return found;
    }
}
