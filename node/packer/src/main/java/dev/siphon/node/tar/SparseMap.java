package dev.siphon.node.tar;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/// Maps the parts of a sparse file that the tar contains. Reads all four formats that GNU tar has used.
final class SparseMap {
    /// A limit, because each extent takes memory: enough for 1 TiB with an extent in each MiB.
    private static final int MAX_EXTENTS = 1 << 20;

    private static final int OLD_ENTRIES = 4;
    private static final int OLD_ENTRIES_AT = 386;
    private static final int OLD_MORE = 482;
    private static final int OLD_SIZE = 483;
    private static final int NEXT_ENTRIES = 21;
    private static final int NEXT_MORE = 504;
    private static final int FIELD = 12;

    private final TarWindow window;
    private final long offset;
    private final List<TarExtent> extents = new ArrayList<>();
    private long fileEnd;
    private long at;

    /// @param dataAt where the data starts; in format 1.0 and the oldest format, where the map starts
    private SparseMap(TarWindow window, long offset, long dataAt) {
        this.window = window;
        this.offset = offset;
        at = dataAt;
    }

    /// Whether a pax header marks its file as sparse.
    static boolean isSaidBy(PaxRecords records) {
        return records.text("GNU.sparse.major").isPresent()
                || records.text("GNU.sparse.size").isPresent()
                || records.text("GNU.sparse.map").isPresent();
    }

    /// @param end of the file's data in the tar, in bytes
    record Old(TarMember.Content content, long end) {}

    /// Parses GNU tar's own format: the map is in the header, and in blocks after it that the header's size does
    /// not count.
    static Old old(TarWindow window, TarHeader header, long stored) {
        byte[] block = window.read(header.offset(), TarHeader.BYTES);
        SparseMap map = new SparseMap(window, header.offset(), header.dataAt());
        List<long[]> pairs = new ArrayList<>();
        map.pairs(block, OLD_ENTRIES_AT, OLD_ENTRIES, pairs);
        boolean more = block[OLD_MORE] != 0;
        while (more) {
            map.mustHave(TarHeader.BYTES);
            byte[] next = window.read(map.at, TarHeader.BYTES);
            map.at += TarHeader.BYTES;
            map.pairs(next, 0, NEXT_ENTRIES, pairs);
            more = next[NEXT_MORE] != 0;
        }
        long end = map.at + stored;
        pairs.forEach(pair -> map.add(pair[0], pair[1]));
        return new Old(map.content(header.dataAt(), header.number(OLD_SIZE, FIELD), end), end);
    }

    private void pairs(byte[] block, int from, int count, List<long[]> pairs) {
        for (int i = 0; i < count; i++) {
            int entry = from + i * 2 * FIELD;
            if (block[entry + FIELD] == 0) {
                return;
            }
            pairs.add(new long[] {
                TarHeader.number(block, entry, FIELD, offset), TarHeader.number(block, entry + FIELD, FIELD, offset)
            });
            if (pairs.size() > MAX_EXTENTS) {
                throw tooMany();
            }
        }
    }

    /// Parses formats 0.0, 0.1 and 1.0, in pax headers.
    static TarMember.Content of(TarWindow window, TarHeader header, PaxRecords records, long stored) {
        SparseMap map = new SparseMap(window, header.offset(), header.dataAt());
        long size = records.number("GNU.sparse.realsize", header.offset())
                .or(() -> records.number("GNU.sparse.size", header.offset()))
                .orElseThrow(() -> MalformedTar.at(header.offset(), "a sparse file has no size"));
        long end = header.dataAt() + stored;
        if (records.text("GNU.sparse.major").filter(major -> !major.equals("0")).isPresent()) {
            map.numbersBefore(end);
        } else {
            map.numbers(records.text("GNU.sparse.map")
                    .map(text -> List.of(text.split(",", -1)))
                    .orElse(records.sparse()));
        }
        return map.content(header.dataAt(), size, end);
    }

    private void numbers(List<String> numbers) {
        if (numbers.size() % 2 != 0) {
            throw MalformedTar.at(offset, "the parts of a sparse file do not come in pairs");
        }
        for (int i = 0; i < numbers.size(); i += 2) {
            add(
                    PaxRecords.parsed("part", numbers.get(i), offset),
                    PaxRecords.parsed("part", numbers.get(i + 1), offset));
        }
    }

    /// Parses the map of format 1.0, in lines before the data: the number of parts, then two numbers for each,
    /// padded to a block.
    private void numbersBefore(long end) {
        Lines lines = new Lines(at, end);
        long count = lines.next();
        if (count < 0 || count > MAX_EXTENTS) {
            throw tooMany();
        }
        List<long[]> pairs = new ArrayList<>();
        for (long i = 0; i < count; i++) {
            pairs.add(new long[] {lines.next(), lines.next()});
        }
        at = lines.blockEnd();
        pairs.forEach(pair -> add(pair[0], pair[1]));
    }

    private final class Lines {
        private final long start;
        private final long end;
        private long position;

        Lines(long start, long end) {
            this.start = start;
            this.end = end;
            position = start;
        }

        long next() {
            StringBuilder digits = new StringBuilder();
            while (true) {
                if (position >= end || position >= window.size()) {
                    throw MalformedTar.at(offset, "the parts of a sparse file are cut off");
                }
                char each = new String(window.read(position++, 1), StandardCharsets.ISO_8859_1).charAt(0);
                if (each == '\n') {
                    return PaxRecords.parsed("part", digits.toString(), offset);
                }
                digits.append(each);
                if (digits.length() > 20) {
                    throw MalformedTar.at(offset, "the parts of a sparse file are not numbers");
                }
            }
        }

        long blockEnd() {
            return start + Math.ceilDiv(position - start, TarHeader.BYTES) * TarHeader.BYTES;
        }
    }

    private void add(long from, long length) {
        if (length == 0 && from >= fileEnd) {
            return; // GNU tar's mark for the end of a file that ends with a hole
        }
        if (from < fileEnd || length < 0 || from + length < from) {
            throw MalformedTar.at(offset, "the parts of a sparse file are out of order");
        }
        if (extents.size() == MAX_EXTENTS) {
            throw tooMany();
        }
        extents.add(new TarExtent(from, length, at));
        fileEnd = from + length;
        at += length;
    }

    private TarMember.Content content(long dataAt, long size, long dataEnd) {
        if (size < fileEnd || at != dataEnd) {
            throw MalformedTar.at(offset, "the parts of a sparse file are not as long as the file");
        }
        return new TarMember.Content(dataAt, size, extents);
    }

    private void mustHave(long bytes) {
        if (at + bytes > window.size()) {
            throw MalformedTar.cutOff(window.size(), "within the header at byte " + offset);
        }
    }

    private RuntimeException tooMany() {
        return MalformedTar.at(offset, "a sparse file has more than " + MAX_EXTENTS + " parts");
    }
}
