package dev.siphon.controller.allowance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.siphon.controller.identity.Account;
import dev.siphon.controller.volume.AccountNote;
import dev.siphon.controller.volume.GroupUsage.GroupStanding;
import dev.siphon.controller.volume.SubvolumeGroup;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

final class AllowanceUseTest {
    private static final SubvolumeGroup GROUP = new SubvolumeGroup("lab", "cephfs", "g1");

    private static AllowanceUse use(String account, long allowance, long written) {
        return new AllowanceUse("lab", "cephfs", account, allowance, written);
    }

    private static GroupStanding standing(OptionalLong quota, Optional<AccountNote> note) {
        return new GroupStanding(GROUP.name(), quota, 30, note);
    }

    private static Optional<Account> account(OptionalLong allowance) {
        return Optional.of(new Account("u1", "id-1", 10_001, 10_001, Set.of(), allowance));
    }

    @Test
    void theDirectorysAllowanceCountsAndElseTheQuota() {
        GroupStanding standing = standing(OptionalLong.of(50), Optional.empty());
        assertEquals(Optional.of(use("u1", 100, 30)), AllowanceUse.of(GROUP, standing, account(OptionalLong.of(100))));
        assertEquals(Optional.of(use("u1", 50, 30)), AllowanceUse.of(GROUP, standing, account(OptionalLong.empty())));
        assertEquals(
                Optional.of(use("u1", 1, 30)),
                AllowanceUse.of(GROUP, standing, account(OptionalLong.of(0))),
                "nothing");
    }

    @Test
    void withoutAnAllowanceThereIsNothingToUse() {
        GroupStanding standing = standing(OptionalLong.empty(), Optional.empty());
        assertEquals(Optional.empty(), AllowanceUse.of(GROUP, standing, account(OptionalLong.empty())));
    }

    @Test
    void anAccountThatIsGoneHasItsLastName() {
        AccountNote note = new AccountNote("10001", "gone");
        assertEquals(
                Optional.of(use("gone", 50, 30)),
                AllowanceUse.of(GROUP, standing(OptionalLong.of(50), Optional.of(note)), Optional.empty()));
        assertEquals(
                Optional.of(use("g1", 50, 30)),
                AllowanceUse.of(GROUP, standing(OptionalLong.of(50), Optional.empty()), Optional.empty()));
    }

    @Test
    void theFullestAreKeptHoweverManyThereAre() {
        List<AllowanceUse> all = new ArrayList<>(
                IntStream.range(0, 1_000).mapToObj(i -> use("a" + i, 1_000, i)).toList());
        List<String> expected = IntStream.range(0, AllowanceUse.MOST)
                .mapToObj(i -> "a" + (999 - i))
                .toList();
        assertEquals(
                expected,
                AllowanceUse.fullest(all).stream().map(AllowanceUse::account).toList());
    }

    @Test
    void noNameIsKeptTwice() {
        AllowanceUse fuller = use("u1", 100, 90);
        assertEquals(List.of(fuller), AllowanceUse.fullest(List.of(use("u1", 100, 10), fuller)));
    }
}
