import Retry

@testable import LayoverCore

/// Entries as the set makes them.
enum PendingFixture {
    struct Request {
        var url = "http://a.example/"
        var host = "a.example"
        var method = "GET"
        var byteCount = 0
    }

    /// In the order in which they were parked, a second apart.
    static func entries(_ requests: [Request]) -> [Entry] {
        let set = set(requests)
        return set.liveEntries.map { set.described($0, now: Timestamp(nanoseconds: 0)) }
            .sorted { $0.parkedAt < $1.parkedAt }
    }

    /// The set that holds them.
    static func set(_ requests: [Request]) -> PendingSet {
        var set = PendingSet()
        var generator = Counting()
        let failure = Failure(
            phase: .connecting, kind: .connectionRefused, evidence: .neverSent, message: "Connection refused."
        )
        for (number, request) in requests.enumerated() {
            let now = Timestamp(nanoseconds: Int64(number + 1) * 1_000_000_000)
            _ = set.handle(
                ParkRequested(
                    NewEntry(
                        id: EntryID(using: &generator), method: request.method, url: request.url,
                        origin: Origin(scheme: .http, host: request.host), client: .init(address: ""),
                        createdAt: now, attemptCount: 1, requestByteCount: request.byteCount, failure: failure,
                        parking: .init(delay: .seconds(60), shutsGate: true))), now: now, using: &generator)
        }
        return set
    }

    private struct Counting: RandomNumberGenerator {
        var count: UInt64 = 0

        mutating func next() -> UInt64 {
            count += 1
            return count
        }
    }
}
