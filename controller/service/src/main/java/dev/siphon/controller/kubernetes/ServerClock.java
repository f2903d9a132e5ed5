package dev.siphon.controller.kubernetes;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;

/// The API server's clock, which sets creation times: this machine's clock, corrected by the `Date` of each reply
/// (RFC 9110, section 6.6.1). Before the first reply it is this machine's clock.
final class ServerClock implements InstantSource {
    /// `Date` has whole seconds, and a reply takes time to arrive.
    private static final Duration TOLERANCE = Duration.ofSeconds(2);

    private final InstantSource own;
    private volatile Duration ahead = Duration.ZERO;

    /// @param own this machine's clock
    ServerClock(InstantSource own) {
        this.own = own;
    }

    @Override
    public Instant instant() {
        return own.instant().plus(ahead);
    }

    /// Corrects the clock by a reply that just arrived.
    ///
    /// @param date its header `Date`; ignored if it is invalid
    void set(String date) {
        try {
            Instant server = ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                    .toInstant();
            if (Duration.between(instant(), server).abs().compareTo(TOLERANCE) > 0) {
                ahead = Duration.between(own.instant(), server);
            }
        } catch (DateTimeParseException none) {
            // the server has no clock
        }
    }
}
