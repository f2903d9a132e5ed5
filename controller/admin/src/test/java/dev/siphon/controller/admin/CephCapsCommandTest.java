package dev.siphon.controller.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class CephCapsCommandTest {
    private static final Path PAGE = Path.of("../../docs/how-to/install.md");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int run(String... words) {
        return new CommandLine(new CephCapsCommand())
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true))
                .execute(words);
    }

    @Test
    void theDocumentShowsWhatIsPrinted() throws IOException {
        String text = Files.readString(PAGE);
        String call = "$ siphon ceph-caps ";
        int begin = text.indexOf(call);
        int end = text.indexOf("\n", begin);
        assertEquals(0, run(text.substring(begin + call.length(), end).split(" ", -1)), err.toString());
        String shown = text.substring(end + 1, text.indexOf("```", end));
        assertEquals(out.toString(), shown, "docs/how-to/install.md, behind " + call);
    }

    @Test
    void everyClusterOfTheFileGetsItsOwnUserAndKeyring(@TempDir Path folder) throws IOException {
        Path file = Files.writeString(folder.resolve("clusters.json"), """
                {"clusters": [
                  {"id": "a", "monitors": ["10.0.0.1"], "user": "one", "keyringFile": "/k/a b", "default": true},
                  {"id": "b", "monitors": ["10.0.0.2"], "user": "two", "keyringFile": "/k/b"}]}
                """);
        assertEquals(0, run("--clusters", file.toString(), "--fs", "x,y"), err.toString());
        assertTrue(out.toString().contains("client.one"), out.toString());
        assertTrue(out.toString().contains("-o '/k/a b'"), out.toString());
        assertTrue(out.toString().contains("client.two"), out.toString());
        assertTrue(
                out.toString().contains("osd 'allow rw tag cephfs data=x, allow rw tag cephfs data=y'"),
                out.toString());
    }

    @Test
    void nothingIsAllowedThatIsNotUsed() {
        assertEquals(0, run("--fs", "x", "--no-keys"));
        assertFalse(out.toString().contains("auth get-or-create\""), out.toString());
        assertTrue(out.toString().contains("mon 'allow r'"), out.toString());
        assertTrue(
                out.toString().contains("mds 'allow rwp fsname=x path=/volumes, allow rwp fsname=x path=/datasets'"),
                out.toString());
        assertFalse(out.toString().contains("blocklist"), out.toString());
    }

    @Test
    void whatEndsSessionsNeedsTheWholeFileSystemAndNoOther() {
        for (String flag : new String[] {"--attach", "--key-commands"}) {
            assertEquals(0, run("--fs", "x", flag));
            assertTrue(out.toString().contains("mds 'allow * fsname=x'"), out.toString());
        }
        assertTrue(out.toString().contains("\"osd blocklist\" with blocklistop=add"), out.toString());
    }

    @Test
    void aUserThatTheShellWouldReadAsMoreIsRefused() {
        for (String user : List.of("a; touch x #", "a b", "$(id)", "client.a", "a\nb", "")) {
            assertEquals(2, run("--fs", "x", "--user", user), user);
        }
        assertTrue(err.toString().contains("--user: must be a cephx user"), err.toString());
        assertEquals("", out.toString());
    }

    @Test
    void changingCapsShowsNobodyTheKey() {
        assertEquals(0, run("--fs", "x", "--user", "one", "--change"), err.toString());
        assertTrue(out.toString().contains("ceph auth caps client.one \\\n"), out.toString());
        assertTrue(out.toString().endsWith(" \\\n  >/dev/null\n"), out.toString());
    }

    @Test
    void aNameThatWouldEndACapIsRefused() {
        for (String name : Stream.of("", "x y", "x'", "x path=/").toList()) {
            assertEquals(2, run("--fs", name), name);
        }
        assertEquals(2, run(), "no file system");
    }
}
