package dev.siphon.node.unpack;

import dev.siphon.node.fetch.FetchFailure;
import dev.siphon.node.fetch.FetchFailure.Reason;
import dev.siphon.node.tar.Compression;
import dev.siphon.node.tar.TarScanner;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/// Tells archives from single files, by their first bytes. Many formats of files are zips, or compressed; only a zip
/// with such a name, and a tar, are taken apart.
final class ArchiveFormat {
    private static final int BLOCK_BYTES = 512;

    private ArchiveFormat() {}

    /// @param name of the file on its server
    /// @return empty if it is a single file
    static Optional<Archive> of(Path file, String name) {
        try {
            byte[] magic = first(file);
            if (isZip(magic)) {
                boolean isNamedSo = name.toLowerCase(Locale.ROOT).endsWith(".zip") || name.indexOf('.') < 0;
                return isNamedSo ? Optional.of(new ZipArchive(file)) : Optional.empty();
            }
            if (magic.length >= 2 && magic[0] == '7' && magic[1] == 'z') {
                return Optional.empty();
            }
            Compression compression = Compression.of(magic);
            return isTar(file, compression, name) ? Optional.of(new TarArchive(file, compression)) : Optional.empty();
        } catch (IOException e) {
            throw WorkDirectory.failure(file, e);
        }
    }

    private static boolean isZip(byte[] magic) {
        return magic.length >= 4
                && magic[0] == 'P'
                && magic[1] == 'K'
                && ((magic[2] == 3 && magic[3] == 4) || (magic[2] == 5 && magic[3] == 6));
    }

    private static byte[] first(Path file) throws IOException {
        try (InputStream stream = Files.newInputStream(file)) {
            return stream.readNBytes(Compression.MAGIC_BYTES);
        }
    }

    /// Whether the file begins as a tar does: with a header, or as an empty one.
    private static boolean isTar(Path file, Compression compression, String name) {
        boolean isNamedSo = name.toLowerCase(Locale.ROOT).matches(".*\\.(tar(\\.[a-z0-9]+)?|tgz|tbz2?|txz|tzst)");
        byte[] block;
        try (InputStream stream = TarArchive.open(file, compression)) {
            block = stream.readNBytes(BLOCK_BYTES);
        } catch (IOException e) {
            if (isNamedSo) {
                throw new FetchFailure(
                        Reason.MALFORMED,
                        MemberPath.quoted(name) + " is damaged, and cannot be unpacked: " + e.getMessage());
            }
            return false;
        }
        return isNamedSo || TarScanner.isBegin(block);
    }
}
