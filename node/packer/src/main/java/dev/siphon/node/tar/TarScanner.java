package dev.siphon.node.tar;

import dev.siphon.csi.DriverException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.TreeMap;

/// Iterates over the members of a tar, and skips their contents. For one thread.
public final class TarScanner {
    /// The maximum size of an extension header: names, and attributes, of which Linux allows 64 KiB per file.
    private static final int MAX_EXTENSION_BYTES = 4 << 20;

    private final TarWindow window;
    private long at;
    private PaxRecords global = PaxRecords.NONE;

    /// @param bytes of an uncompressed tar
    public TarScanner(TarBytes bytes) {
        window = new TarWindow(bytes);
    }

    /// Whether `block`, the first bytes of a file, is a header of a tar.
    public static boolean isBegin(byte[] block) {
        try {
            return block.length == TarHeader.BYTES
                    && !TarHeader.isEnd(block)
                    && TarHeader.of(0, block).offset() == 0;
        } catch (DriverException.InvalidRequest _) {
            return false;
        }
    }

    /// Returns the offset of the next member's header, in bytes.
    public long position() {
        return at;
    }

    /// The extension headers that precede a member.
    private record Prefix(PaxRecords records, Optional<String> name, Optional<String> link) {
        static final Prefix NONE = new Prefix(PaxRecords.NONE, Optional.empty(), Optional.empty());
    }

    /// Returns the next member; empty at the end mark. Ignores everything after that.
    ///
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if the tar is damaged or truncated; the message
    ///     has the offset
    public Optional<TarMember> next() {
        Prefix prefix = Prefix.NONE;
        for (Optional<TarHeader> next = header(); next.isPresent(); next = header()) {
            TarHeader header = next.get();
            switch (header.type()) {
                case 'x', 'X' ->
                    prefix = new Prefix(
                            PaxRecords.parse(extension(header), header.dataAt()).or(prefix.records()),
                            prefix.name(),
                            prefix.link());
                case 'g' ->
                    global =
                            PaxRecords.parse(extension(header), header.dataAt()).or(global);
                case 'L' -> prefix = new Prefix(prefix.records(), Optional.of(text(header)), prefix.link());
                case 'K' -> prefix = new Prefix(prefix.records(), prefix.name(), Optional.of(text(header)));
                case 'V' -> at = header.dataAt(); // a volume label
                case 'M' ->
                    throw MalformedTar.at(header.offset(), "it continues another volume of the tar: join the volumes");
                default -> {
                    return Optional.of(member(header, prefix));
                }
            }
        }
        if (!prefix.equals(Prefix.NONE)) {
            throw MalformedTar.at(at, "a header that describes a member has no member after it");
        }
        return Optional.empty();
    }

    private Optional<TarHeader> header() {
        if (at + TarHeader.BYTES > window.size()) {
            throw MalformedTar.cutOff(window.size(), at == 0 ? "" : "where a member should begin, at byte " + at);
        }
        byte[] block = window.read(at, TarHeader.BYTES);
        return TarHeader.isEnd(block) ? Optional.empty() : Optional.of(TarHeader.of(at, block));
    }

    private byte[] extension(TarHeader header) {
        long size = header.size();
        if (size < 0 || size > MAX_EXTENSION_BYTES) {
            throw MalformedTar.at(header.offset(), "a header that describes a member has " + size + " bytes");
        }
        end(header, "its attributes", header.dataAt() + size);
        return window.read(header.dataAt(), (int) size);
    }

    private String text(TarHeader header) {
        String text = new String(extension(header), StandardCharsets.ISO_8859_1);
        int end = text.indexOf('\0');
        return end < 0 ? text : text.substring(0, end);
    }

    /// Checks that the data of `name` ends at `end`, within the tar, and moves to the next header, at the next
    /// block boundary.
    private void end(TarHeader header, String name, long end) {
        if (end > window.size() || end < header.dataAt()) {
            throw MalformedTar.cutOff(
                    window.size(), "within " + MalformedTar.quoted(name) + ", which begins at byte " + header.offset());
        }
        at = Math.ceilDiv(end, TarHeader.BYTES) * TarHeader.BYTES;
    }

    private TarMember member(TarHeader header, Prefix prefix) {
        PaxRecords records = prefix.records().or(global);
        String path = records.text("GNU.sparse.name")
                .or(() -> records.text("path"))
                .or(prefix::name)
                .orElseGet(header::name);
        String link = records.text("linkpath").or(prefix::link).orElseGet(header::link);
        TarMember.Kind kind = kind(header.type(), path);
        TarMember.Content content = content(header, records, path, kind);
        return new TarMember(
                header.offset(),
                kind,
                path,
                link,
                header.permissions(),
                records.number("uid", header.offset()).orElseGet(header::uid),
                records.number("gid", header.offset()).orElseGet(header::gid),
                records.time("mtime", header.offset()).orElseGet(() -> new TarMember.Time(header.modified(), 0)),
                kind == TarMember.Kind.FILE || kind == TarMember.Kind.DIRECTORY
                        ? records.attributes()
                        : new TreeMap<>(),
                content);
    }

    /// Returns the type; unknown types are files (pax(1p)).
    private static TarMember.Kind kind(char type, String path) {
        return switch (type) {
            case '1' -> TarMember.Kind.HARD_LINK;
            case '2' -> TarMember.Kind.SYMLINK;
            case '3', '4', '6' -> TarMember.Kind.SPECIAL;
            case '5', 'D' -> TarMember.Kind.DIRECTORY;
            // from before directories had a type of their own
            case '\0', '0' -> path.endsWith("/") ? TarMember.Kind.DIRECTORY : TarMember.Kind.FILE;
            default -> TarMember.Kind.FILE;
        };
    }

    private TarMember.Content content(TarHeader header, PaxRecords records, String path, TarMember.Kind kind) {
        long written = records.number("size", header.offset()).orElseGet(header::size);
        if (written < 0) {
            throw MalformedTar.at(header.offset(), MalformedTar.quoted(path) + " has a negative size");
        }
        if (header.type() == 'S') {
            SparseMap.Old sparse = SparseMap.old(window, header, written);
            end(header, path, sparse.end());
            return sparse.content();
        }
        // ignore sizes of members without contents, which some programs write; 'D' has the names of an incremental
        // dump
        long stored = kind == TarMember.Kind.FILE || header.type() == 'D' ? written : 0;
        end(header, path, header.dataAt() + stored);
        return kind == TarMember.Kind.FILE && SparseMap.isSaidBy(records)
                ? SparseMap.of(window, header, records, stored)
                : TarMember.Content.plain(header.dataAt(), stored);
    }
}
