package dev.siphon.node.fetch;

import dev.siphon.csi.DriverException;
import java.io.ByteArrayInputStream;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/// A page of a list of objects (ListObjectsV2 of S3).
///
/// @param next continues the list; empty at its end
record BucketPage(List<BucketObject> objects, String next) {
    BucketPage {
        objects = List.copyOf(objects);
    }

    /// @param shown the bucket, for the message
    /// @throws DriverException.InvalidRequest (INVALID_ARGUMENT) if it is no such page
    static BucketPage parse(byte[] xml, String shown) {
        List<BucketObject> objects = new ArrayList<>();
        Map<String, String> page = new HashMap<>();
        Map<String, String> object = new HashMap<>();
        try {
            XMLStreamReader reader = factory().createXMLStreamReader(new ByteArrayInputStream(xml));
            int depth = 0;
            String name = "";
            StringBuilder text = new StringBuilder();
            boolean isInObject = false;
            while (reader.hasNext()) {
                switch (reader.next()) {
                    case XMLStreamConstants.START_ELEMENT -> {
                        depth++;
                        name = reader.getLocalName();
                        text.setLength(0);
                        if (depth == 2) {
                            isInObject = name.equals("Contents");
                            object.clear();
                        }
                    }
                    case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA -> text.append(reader.getText());
                    case XMLStreamConstants.END_ELEMENT -> {
                        if (depth == 3 && isInObject) {
                            object.put(reader.getLocalName(), text.toString());
                        } else if (depth == 2 && isInObject) {
                            objects.add(object(object, page));
                        } else if (depth == 2) {
                            page.put(reader.getLocalName(), text.toString());
                        }
                        depth--;
                    }
                    default -> {
                        // comments and space
                    }
                }
            }
        } catch (XMLStreamException | IllegalArgumentException | DateTimeException _) {
            throw new DriverException.InvalidRequest(
                    "the list of " + shown + " is malformed: its endpoint must be a server that speaks S3");
        }
        boolean isCut = Boolean.parseBoolean(page.getOrDefault("IsTruncated", "false"));
        return new BucketPage(objects, isCut ? page.getOrDefault("NextContinuationToken", "") : "");
    }

    /// Without definitions of entities, which could read files or fill the memory.
    private static XMLInputFactory factory() {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        return factory;
    }

    private static BucketObject object(Map<String, String> fields, Map<String, String> page) {
        String key = fields.getOrDefault("Key", "");
        long bytes = Long.parseLong(fields.getOrDefault("Size", "-"));
        if (bytes < 0 || key.isEmpty()) {
            throw new IllegalArgumentException("an object without size or key");
        }
        return new BucketObject(
                // every list asks for it
                page.getOrDefault("EncodingType", "url").equals("url")
                        ? URLDecoder.decode(key, StandardCharsets.UTF_8)
                        : key,
                fields.getOrDefault("ETag", ""),
                bytes,
                Instant.parse(fields.getOrDefault("LastModified", "-")));
    }
}
