package dev.siphon.node.fetch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.DriverException;
import dev.siphon.csi.fuzz.ParserFuzz;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Lists of buckets, valid and fuzzed.
final class BucketPageParsingFuzzTest {
    private static final String PAGE = "<ListBucketResult><Name>b</Name><EncodingType>url</EncodingType>"
            + "<IsTruncated>true</IsTruncated><NextContinuationToken>t+/=</NextContinuationToken>"
            + "<Contents><Key>a%2Bb+c/d</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified>"
            + "<ETag>&quot;1&quot;</ETag><Size>7</Size><Owner><ID>x</ID></Owner></Contents></ListBucketResult>";

    private static BucketPage parse(String xml) {
        return BucketPage.parse(xml.getBytes(StandardCharsets.UTF_8), "bucket");
    }

    @Test
    void aPageHasObjects() {
        assertEquals(
                new BucketPage(
                        List.of(new BucketObject("a+b c/d", "\"1\"", 7, Instant.parse("2026-01-02T03:04:05Z"))),
                        "t+/="),
                parse(PAGE));
    }

    @Test
    void entitiesAreRefused() {
        assertThrows(
                DriverException.InvalidRequest.class,
                () -> parse("<!DOCTYPE l [<!ENTITY e SYSTEM \"file:///etc/passwd\">]>"
                        + PAGE.replace("<Name>b", "<Name>&e;")));
    }

    @Test
    void pages() {
        ParserFuzz.of(
                        "lists of buckets",
                        ParserFuzz.texts(PAGE),
                        bytes -> BucketPage.parse(bytes, "bucket"),
                        DriverException.InvalidRequest.class)
                .run();
    }
}
