package dev.siphon.node.replica;

import dev.siphon.csi.DriverException;
import dev.siphon.node.replica.cache.CachedReplica;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Changes what is behind a dataset's tree, and notes what the kernel says is there then.
final class Swapping {
    private static final Logger LOG = LoggerFactory.getLogger(Swapping.class);

    private final Attachments attachments;
    private final Caches caches;
    private final Turns turns;
    private final ReplicaCounts counts;

    Swapping(Attachments attachments, Caches caches, Turns turns, ReplicaCounts counts) {
        this.attachments = attachments;
        this.caches = caches;
        this.turns = turns;
        this.counts = counts;
    }

    /// Looks where an attachment is read from. One just made asks no cache's disk.
    Attachment seen(DatasetState state, AttachmentKey key, Attached attached) {
        if (attached.fresh()) {
            return attachment(key, attached, new Place.Remote());
        }
        Place place = caches.holding(key.digest(), attached.device().backing())
                .<Place>map(replica -> new Place.Local(replica.cache()))
                .orElseGet(() -> placeUnseen(state, key));
        return attachment(key, attached, place);
    }

    /// Where an attachment is read from that reads no replica on a disk that answers. After a restart that may be one
    /// on a disk that does not, which is to be left: to swap a tree from CephFS to CephFS harms nobody.
    private Place placeUnseen(DatasetState state, AttachmentKey key) {
        List<Path> unreadable = caches.unreadable();
        Optional<Place> before = state.attachment(key).map(Attachment::place);
        return before.isPresent()
                ? before.filter(place ->
                                place.cache().filter(unreadable::contains).isPresent())
                        .orElseGet(Place.Remote::new)
                : unreadable.stream().findFirst().<Place>map(Place.Local::new).orElseGet(Place.Remote::new);
    }

    private static Attachment attachment(AttachmentKey key, Attached attached, Place place) {
        return new Attachment(key, attached.tree(), place, attached.device().directIo());
    }

    /// Puts a replica, which is whole and was checked, behind a tree; not if it was detached meanwhile.
    void to(DatasetState state, AttachmentKey key, CachedReplica replica) {
        swap(state, key, replica.image(), new Place.Local(replica.cache()), Optional.empty());
    }

    /// Puts the image on CephFS behind every tree that is read from the replica in `cache`; that one was detached
    /// meanwhile is as good.
    ///
    /// @throws DriverException.InUse (FAILED_PRECONDITION) if nobody knows where that image is
    /// @throws DriverException.DeadlinePassed (DEADLINE_EXCEEDED) if CephFS, or a disk that fails, does not
    ///     answer
    void back(DatasetState state, Path cache) {
        List<AttachmentKey> served = state.servedFrom(cache);
        if (served.isEmpty()) {
            return;
        }
        DatasetImage image = state.image()
                .orElseThrow(
                        () -> new DriverException.InUse(
                                "dataset " + state.digest()
                                        + " is read from its replica, and there is no telling where its image is: attach it once more"));
        Path replica = caches.at(cache).replica(state.digest()).image();
        served.forEach(key -> swap(state, key, image.image(), new Place.Remote(), Optional.of(replica)));
    }

    private void swap(DatasetState state, AttachmentKey key, Path file, Place place, Optional<Path> instead) {
        turns.take(state.digest(), () -> {
                    Optional<Attachment> now = attachments.find(key).isEmpty()
                            ? Optional.empty()
                            : Optional.of(attachment(key, attachments.swap(key, file, instead), place));
                    now.ifPresentOrElse(state::attached, () -> state.unattached(key));
                    return now;
                })
                .ifPresent(now -> {
                    switch (place) {
                        case Place.Local _ -> counts.swapsToReplica().increment();
                        case Place.Remote _ -> counts.swapsToImage().increment();
                    }
                    LOG.atInfo()
                            .addKeyValue("dataset", state.digest())
                            .addKeyValue("file", file)
                            .addKeyValue("direct_io", now.directIo())
                            .log("swapped what a dataset is read from");
                });
    }
}
