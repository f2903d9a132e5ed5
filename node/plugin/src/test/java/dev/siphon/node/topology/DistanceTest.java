package dev.siphon.node.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Distances as in the legend of `nvidia-smi topo -m`.
final class DistanceTest {
    private static PciPath path(String chain, Integer node) {
        PciPath path = PciPath.of(Path.of("/none/devices").resolve(chain)).orElseThrow();
        return node < 0 ? path : path.orNumaNode(OptionalInt.of(node));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "itself,                      X,    pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0000:00/0000:00:01.0/0000:01:00.0, 0",
        "two functions of one card,   PIX,  pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0000:00/0000:00:01.0/0000:01:00.1, 0",
        "two root ports,              PHB,  pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0000:00/0000:00:02.0/0000:02:00.0, 0",
        "the root complex itself,     PHB,  pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0000:00/0000:00:17.0, 0",
        "two host bridges of a node,  NODE, pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0000:40/0000:40:01.0/0000:41:00.0, 0",
        "two nodes,                   SYS,  pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0000:40/0000:40:01.0/0000:41:00.0, 1",
        "one node unknown,            ?,    pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0000:40/0000:40:01.0/0000:41:00.0, -1",
        "both nodes unknown,          ?,    pci0000:00/0000:00:01.0/0000:01:00.0, -1, pci0000:40/0000:40:01.0/0000:41:00.0, -1",
        "another domain's same bus,   SYS,  pci0000:00/0000:00:01.0/0000:01:00.0, 0, pci0001:00/0001:00:01.0/0001:01:00.0, 1",
        "no host bridge but nodes,    SYS,  platform/0000:01:00.0, 0, platform/0000:02:00.0, 1",
        "one switch,                  PIX,  pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0, 0,"
                + " pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:04:00.0, 0",
        "a switch on the card,        PXB,"
                + " pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:00.0/0000:03:00.0/0000:04:00.0/0000:05:00.0, 0,"
                + " pci0000:00/0000:00:01.0/0000:01:00.0/0000:02:01.0/0000:06:00.0, 0",
        "behind VMD,                  PHB,  pci0000:00/0000:00:01.0/0000:01:00.0, 0,"
                + " pci0000:00/0000:00:05.5/pci10000:00/10000:00:02.0/10000:01:00.0, 0",
    })
    void asTheLegendSays(String name, String label, String one, int oneNode, String other, int otherNode) {
        PciPath a = path(one, oneNode);
        PciPath b = path(other, otherNode);
        assertEquals(label, Distance.between(a, b).label(), name);
        assertEquals(label, Distance.between(b, a).label(), name + ", the other way round");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "0000:07:00", "07:00.0", "0000:07:00.8", "0000:07:20.0", "g000:07:00.0", "0000:07:00.0 "})
    void otherTextIsNoAddress(String text) {
        assertEquals(Optional.empty(), PciAddress.parse(text));
    }

    @ParameterizedTest
    @CsvSource({"00000000:07:00.0, 0000:07:00.0", "0000:AF:1F.7, 0000:af:1f.7", "10000:01:00.0, 10000:01:00.0"})
    void everyFormOfAnAddressIsRead(String text, String sysfs) {
        assertEquals(sysfs, PciAddress.parse(text).orElseThrow().toString());
    }

    @ParameterizedTest
    @CsvSource({
        "0000:07:00.0, 0000:0f:00.0",
        "0000:ff:1f.7, 0001:00:00.0",
        "0000:07:00.0, 0000:07:00.1",
        "ffff:00:00.0, 10000:00:00.0"
    })
    void addressesAreInTheOrderOfTheBuses(String first, String second) {
        List<PciAddress> sorted = List.of(second, first).stream()
                .flatMap(text -> PciAddress.parse(text).stream())
                .sorted()
                .toList();
        assertEquals(
                List.of(first, second),
                sorted.stream().map(PciAddress::toString).toList());
        assertTrue(sorted.getFirst().compareTo(sorted.getLast()) < 0);
    }
}
