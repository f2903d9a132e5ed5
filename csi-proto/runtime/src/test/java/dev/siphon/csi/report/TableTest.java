package dev.siphon.csi.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.siphon.csi.report.Table.Cell;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class TableTest {
    private static Table table() {
        Table table = new Table("account", "volumes", "used");
        table.row(new Cell.Text("u1"), new Cell.Count(3), new Cell.Bytes(1536));
        table.row(new Cell.Text("a longer name"), new Cell.Count(12), new Cell.Bytes(0));
        return table;
    }

    @Test
    void columnsAreAligned() {
        assertEquals(
                List.of(
                        "ACCOUNT        VOLUMES  USED",
                        "u1             3        1.5 KiB",
                        "a longer name  12       0 B"),
                table().text());
    }

    @Test
    void scriptsGetBytesAndNumbers() {
        assertEquals(
                List.of(
                        "{\"account\":\"u1\",\"volumes\":3,\"used\":1536}",
                        "{\"account\":\"a longer name\",\"volumes\":12,\"used\":0}"),
                table().json());
    }

    @ParameterizedTest
    @CsvSource({"1023, 1023 B", "1024, 1 KiB", "1073741824, 1 GiB", "9223372036854775807, 8 EiB"})
    void sizesHaveUnits(long bytes, String shown) {
        assertEquals(shown, Table.size(bytes));
    }

    @Test
    void everyColumnNeedsItsCell() {
        assertThrows(IllegalArgumentException.class, () -> table().row(new Cell.Count(1)));
    }
}
