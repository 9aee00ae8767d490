import Testing

/// Everything that runs the real binary: real clients, real origins, real links.
///
/// One after the other, because most of them measure time or memory and all of them start processes.
@Suite(.serialized, .timeLimit(.minutes(3)))
struct EndToEnd {}
