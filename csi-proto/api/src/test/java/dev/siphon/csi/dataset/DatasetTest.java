package dev.siphon.csi.dataset;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.gson.JsonParser;
import dev.siphon.csi.DriverException;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DatasetTest {
    private static final String DIGEST = "0123456789abcdef".repeat(4);

    private static Dataset parse(String name, String spec) {
        return Dataset.parse(
                name,
                JsonParser.parseString(spec.replace('\'', '"').replace("DIGEST", DIGEST))
                        .getAsJsonObject());
    }

    @Test
    void whatAnAdministratorWroteIsRead() {
        Dataset all = parse(
                "u1/imagenet-v1",
                "{'cluster':'lab','fsName':'cephfs','path':'/datasets/a b','digest':'DIGEST','bytes':7,'readers':['u1']}");
        assertEquals("u1.imagenet-v1", all.name());
        assertEquals(
                "dataset:lab:cephfs:" + DIGEST.substring(0, 40) + ":/datasets/a b",
                all.volume("other").toString());
        assertEquals(7, all.bytes());
        Dataset least = parse("imagenet", "{'fsName':'cephfs','path':'/d','digest':'DIGEST','readers':[]}");
        assertEquals(Optional.empty(), least.cluster());
        assertEquals("other", least.volume("other").cluster());
        assertEquals(Set.of(), least.readers());
        assertFalse(least.isForEverybody());
        assertTrue(parse("d", "{'fsName':'cephfs','path':'/d','digest':'DIGEST','readers':['*']}")
                .isForEverybody());
    }

    @ParameterizedTest
    @ValueSource(strings = {"lab", ""})
    void whatIsWrittenIsReadAgain(String cluster) {
        Dataset dataset = new Dataset(
                "u1.imagenet-v1",
                Optional.of(cluster).filter(text -> !text.isEmpty()),
                "cephfs",
                "/datasets/imagenet-v1",
                new Digest(DIGEST),
                7,
                Set.of("u1", "group:vision"));
        assertEquals(dataset, Dataset.parse(dataset.name(), dataset.toSpec()));
        assertEquals(
                "{'apiVersion':'siphon.dev/v1alpha1','kind':'Dataset','metadata':{'name':'u1.imagenet-v1'},'spec':"
                                .replace('\'', '"')
                        + dataset.toSpec() + "}",
                dataset.toObject().toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{'fsName':'cephfs','path':'/d','digest':'DIGEST'}; readers must be a list",
                "{'fsName':'cephfs','path':'/d','digest':'DIGEST','readers':'u1'}; readers must be a list",
                "{'fsName':'cephfs','path':'/d','digest':'DIGEST','readers':[1]}; readers must be a string",
                "{'path':'/d','digest':'DIGEST','readers':[]}; fsName is missing",
                "{'fsName':null,'path':'/d','digest':'DIGEST','readers':[]}; fsName is missing",
                "{'fsName':'cephfs','path':'/../d','digest':'DIGEST','readers':[]}; dataset d: ",
                "{'fsName':'cephfs','path':'/d','digest':'0123','readers':[]}; is not a SHA-256 digest",
                "{'fsName':'cephfs','path':'/d','digest':'DIGEST','readers':[],'bytes':-1}; bytes must be",
                "{'fsName':'cephfs','path':'/d','digest':'DIGEST','readers':[],'bytes':1e99}; bytes must be",
                "{'fsName':'cephfs','path':'/d','digest':'DIGEST','reader':['*']}; nearest known one is readers",
                "{'cluster':'LAB','fsName':'cephfs','path':'/d','digest':'DIGEST','readers':[]}; cluster id",
            })
    void whatCannotBeIsSaid(String spec, String message) {
        String said = assertThrows(DriverException.InvalidRequest.class, () -> parse("d", spec))
                .getMessage();
        assertTrue(said.contains(message), said);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "a/b/c", "A", "a b", "../a", "a/", "-a"})
    void whatIsNoNameIsRefused(String name) {
        assertThrows(DriverException.InvalidRequest.class, () -> Dataset.name("parameter dataset", name));
    }

    @ParameterizedTest(name = "{0}: a path of {1} bytes")
    @CsvSource({"lab, 55, true", "lab, 56, false", "'', 38, true", "'', 39, false"})
    void aPathFitsIntoTheIdsOfItsVolumes(String cluster, int bytes, boolean fits) {
        String named = cluster.isEmpty() ? "" : "'cluster':'" + cluster + "',";
        String spec = "{" + named + "'fsName':'cephfs','path':'/" + "d".repeat(bytes - 1)
                + "','digest':'DIGEST','readers':[]}";
        if (fits) {
            assertEquals(bytes, parse("d", spec).path().length());
        } else {
            assertThrows(DriverException.InvalidRequest.class, () -> parse("d", spec));
        }
    }
}
