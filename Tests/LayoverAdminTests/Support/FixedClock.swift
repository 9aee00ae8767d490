import LayoverCore
import LayoverEngine

/// Stands still. Timestamp zero is 2026-01-01T00:00:00Z.
struct FixedClock: EngineClock {
    static let zero: Int64 = 1_767_225_600_000_000_000

    func now() -> Timestamp { Timestamp(nanoseconds: 5_000_000_000) }
    func wallNanoseconds(of timestamp: Timestamp) -> Int64 { Self.zero + timestamp.nanoseconds }
}
