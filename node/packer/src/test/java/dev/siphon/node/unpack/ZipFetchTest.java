package dev.siphon.node.unpack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.siphon.node.fetch.FetchFailure.Reason;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Zips from a server, unpacked as an account.
final class ZipFetchTest {
    private static final int MODE_AT = 38;
    private static final int ENTRY_MAGIC = 0x02014b50;

    private final Fetching fetching = new Fetching();

    @AfterEach
    void close() {
        fetching.close();
    }

    /// Makes a zip of alternating names and contents; `!` before a name leaves it uncompressed.
    static byte[] zip(String... entries) {
        ByteArrayOutputStream to = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(to)) {
            for (int i = 0; i < entries.length; i += 2) {
                byte[] content = entries[i + 1].getBytes(StandardCharsets.UTF_8);
                boolean isStored = entries[i].startsWith("!");
                ZipEntry entry = new ZipEntry(isStored ? entries[i].substring(1) : entries[i]);
                if (isStored) {
                    CRC32 crc = new CRC32();
                    crc.update(content);
                    entry.setMethod(ZipEntry.STORED);
                    entry.setSize(content.length);
                    entry.setCrc(crc.getValue());
                }
                zip.putNextEntry(entry);
                zip.write(content);
                zip.closeEntry();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return to.toByteArray();
    }

    private static ByteBuffer view(byte[] zip) {
        return ByteBuffer.wrap(zip).order(ByteOrder.LITTLE_ENDIAN);
    }

    /// Returns where the only or first entry of the directory is.
    private static int entry(byte[] zip) {
        int at = 0;
        while (view(zip).getInt(at) != ENTRY_MAGIC) {
            at++;
        }
        return at;
    }

    /// Gives the first entry a mode of Unix.
    static byte[] withMode(byte[] zip, int mode) {
        int at = entry(zip);
        zip[at + 5] = 3;
        view(zip).putInt(at + MODE_AT, mode << 16);
        return zip;
    }

    @Test
    void aZipBecomesATree() {
        String large = "line\n".repeat(50_000);
        TreeFetch.Result result =
                fetching.fetch(zip("d/", "", "d/f", "content", "!stored", "as it is", "new/large", large));
        assertEquals(
                new TreeMap<>(Map.of("d", "d", "d/f", "content", "stored", "as it is", "new", "d", "new/large", large)),
                fetching.tree());
        assertEquals(large.length() + 15, result.bytes());
        fetching.assertNothingLeft();
    }

    @Test
    void manyEntriesFitZip64() {
        String[] entries = new String[140_000];
        Arrays.fill(entries, "");
        for (int i = 0; i < entries.length; i += 2) {
            entries[i] = "!" + i;
        }
        fetching.maxFiles = 69_999;
        fetching.assertRefused(Reason.TOO_MANY_FILES, zip(entries));
    }

    @Test
    void symbolicLinksAreLinks() {
        fetching.fetch(withMode(zip("link", "d/f", "d/f", "x"), 0xa1ff));
        assertEquals("-> d/f", fetching.tree().get("link"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"../bad", "/bad", "d/../../bad"})
    void namesThatLeaveTheTreeAreRefused(String name) {
        String message = fetching.assertRefused(Reason.UNSAFE_ARCHIVE, zip(name, "x"));
        assertTrue(message.contains(name), message);
    }

    @Test
    void linksThatLeaveTheTreeAndDevicesAreRefused() {
        fetching.assertRefused(Reason.UNSAFE_ARCHIVE, withMode(zip("bad", "/etc/passwd"), 0xa1ff));
        fetching.assertRefused(Reason.UNSAFE_ARCHIVE, withMode(zip("d/bad", "../../x"), 0xa1ff));
        fetching.assertRefused(Reason.UNSAFE_ARCHIVE, withMode(zip("bad", ""), 0x21ff));
    }

    @Test
    void anEntryThatIsEncryptedIsRefused() {
        byte[] zip = zip("secret", "x");
        zip[entry(zip) + 8] |= 1;
        String message = fetching.assertRefused(Reason.MALFORMED, zip);
        assertTrue(message.contains("password") && message.contains("secret"), message);
    }

    @Test
    void moreThanTheDirectorySaysIsRefused() {
        byte[] zip = zip("bomb", "\0".repeat(10_000_000));
        view(zip).putInt(entry(zip) + 24, 100);
        fetching.maxBytes = 100_000;
        fetching.assertRefused(Reason.MALFORMED, zip);
        fetching.assertRefused(Reason.TOO_LARGE, zip("bomb", "\0".repeat(10_000_000)));
    }

    @Test
    void damageIsRefused() {
        byte[] zip = zip("!f", "content");
        zip[31 + 3]++;
        fetching.assertRefused(Reason.MALFORMED, zip);
        byte[] whole = zip("f", "content");
        fetching.assertRefused(Reason.MALFORMED, Arrays.copyOf(whole, whole.length - 10));
    }
}
