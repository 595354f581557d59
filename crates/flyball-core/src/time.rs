//! Instants and spans in milliseconds. No clock: the caller says what time it is.

/// A point in time, in milliseconds since the Unix epoch (negative before 1970).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(pub i64);

/// A length of time in milliseconds; never negative where the core makes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub i64);

impl Instant {
    /// Go's zero time (year 1): what an absent timestamp of the API means in a comparison.
    pub const GO_ZERO: Self = Self(-62_135_596_800_000);

    /// The instant `span` later, held at the ends of the range.
    #[must_use]
    pub const fn plus(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// The instant `span` earlier, held at the ends of the range.
    #[must_use]
    pub const fn minus(self, span: Span) -> Self {
        Self(self.0.saturating_sub(span.0))
    }

    /// How long ago `earlier` was; negative when it lies ahead.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A span of whole seconds, held at the end of the range.
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds.saturating_mul(1000))
    }

    /// The span cut to whole seconds.
    pub const fn whole_seconds(self) -> i64 {
        self.0 / 1000
    }
}
