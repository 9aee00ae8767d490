import Testing

/// Everything that runs the real binary: real clients, real origins, real links.
///
/// One after the other in each process of tests, because they start processes of their own.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct EndToEnd {}
