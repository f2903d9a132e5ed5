package dev.siphon.node.image;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.dataset.Digest;
import dev.siphon.csi.dataset.Manifest;
import dev.siphon.node.fetch.Download;
import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchLimits;
import dev.siphon.node.fetch.WebAddress;
import dev.siphon.node.linux.FileStatus;
import dev.siphon.node.tar.Compression;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Optional;

/// Makes images of data that is not on CephFS yet: directories, tars, and tars on servers.
public final class ImageImport {
    private final ImportListener listener;
    private final FetchLimits limits;

    public ImageImport(ImportListener listener, FetchLimits limits) {
        this.listener = listener;
        this.limits = limits;
    }

    /// Makes the image and then the manifest of `request`, as [ImagePacker#pack] does. The same tree gives the same
    /// bytes, whatever its origin. Downloaded and unpacked files lie beside the image until it is complete; a
    /// repeat of the request resumes with them.
    ///
    /// @return the manifest
    /// @throws DriverException as [ImagePacker#pack] and [Download#run]; InvalidRequest (INVALID_ARGUMENT) for a
    ///     tar that is damaged or truncated, or has members that no tree can have; BackendFault (INTERNAL) if the
    ///     digest does not match
    public Manifest run(ImportRequest request) {
        return new ImagePacker(listener)
                .pack(request.image(), request.modes(), request.parallel(), files -> switch (request.origin()) {
                    case ImportOrigin.Local(Path path) -> local(request, path, files);
                    case ImportOrigin.Remote(WebAddress address) -> remote(request, address, files);
                });
    }

    private ImageSource local(ImportRequest request, Path path, ImageFiles files) {
        if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            return tar(path, request, request.sha256(), files);
        }
        if (request.sha256().isPresent() || request.strip() > 0) {
            throw new DriverException.InvalidRequest("--sha256 and --strip-components are for tars, not directories");
        }
        PackRequest pack = new PackRequest(path, request.image(), request.modes(), request.parallel());
        return DirectorySource.open(pack.source());
    }

    private ImageSource remote(ImportRequest request, WebAddress address, ImageFiles files) {
        try (DownloadFile file = DownloadFile.open(files.download(), files.downloadOrigin(), address)) {
            new Download(Download.Source.of(address, request.sha256().orElseThrow()), file, limits, listener).run();
        } catch (FetchFailure e) {
            throw e.toDriverException();
        }
        return tar(real(files.download()), request, Optional.empty(), files);
    }

    /// Returns the real path. Files beside the image are opened without following links.
    private static Path real(Path path) {
        try {
            return path.resolveSibling(".").toRealPath().resolve(path.getFileName());
        } catch (IOException e) {
            throw StoreErrors.translate("finding", path, e);
        }
    }

    private ImageSource tar(Path path, ImportRequest request, Optional<Digest> expected, ImageFiles files) {
        try (UnchangedFile file = UnchangedFile.open(path)) {
            expected.ifPresent(digest -> new UnchangedFileStream(file, listener).check(digest));
            byte[] magic = UnchangedFileStream.first(file, Compression.MAGIC_BYTES);
            Compression compression = Compression.of(magic);
            Path tar = path;
            if (compression != Compression.NONE) {
                new UnpackedTar(files, listener).make(compression, file, origin(request, file.status()));
                tar = real(files.tar());
            }
            return new TarSource(tar, request.strip(), () -> forget(files));
        }
    }

    /// Identifies the file that a tar was unpacked from.
    private static String origin(ImportRequest request, FileStatus status) {
        return switch (request.origin()) {
            case ImportOrigin.Remote _ -> "sha256 " + request.sha256().orElseThrow();
            case ImportOrigin.Local _ ->
                "file " + status.device() + " " + status.inode() + " " + status.size() + " " + status.changedSeconds()
                        + " " + status.changedNanos();
        };
    }

    private static void forget(ImageFiles files) {
        for (Path each :
                new Path[] {files.download(), files.downloadOrigin(), files.tarPart(), files.tar(), files.tarOrigin()
                }) {
            try {
                Files.deleteIfExists(each);
            } catch (IOException e) {
                throw StoreErrors.translate("removing", each, e);
            }
        }
    }
}
