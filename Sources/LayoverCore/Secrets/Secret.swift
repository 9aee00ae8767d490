/// A token, key, password or credential. Whatever prints it shows `•••`: interpolation, `print`, `dump`, `Mirror`,
/// a log line, the message of a failed test.
///
/// So a struct that holds one can be printed as a whole and gives nothing away. There is no other way to the text than
/// `revealed`, whose uses can be listed: a secret is revealed where it is sent, compared or written to a file, and
/// nowhere else.
package struct Secret: Sendable, Hashable {
    /// The text itself. Keep it out of log lines, errors and stored values of other types.
    package let revealed: String

    package init(_ text: String) { revealed = text }

    /// What stands for every secret, whatever its length.
    package static let mask = "•••"
}

extension Secret: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }

    /// Without children: reflection must not find the text either.
    package var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// Secrets that were guessed wrong, by the address of the client, and how long the refusal is delayed for it.
///
/// Only the refusal is delayed: an honest client with the right secret never waits for the guesses of others, at its own address either.
package struct FailedGuesses: Sendable {
    /// Failures without a delay: people mistype. Default: 3.
    package static let freeCount = 3
    /// The delay of the first failure after these; it doubles with each further one. Default: 250 ms.
    package static let delayInitial: Duration = .milliseconds(250)
    /// Default: 4 s.
    package static let delayMax: Duration = .seconds(4)
    /// The count of an address starts over after this time without a failure. Default: 1 minute.
    package static let ageMax: Duration = .seconds(60)
    /// Most addresses that are remembered; the one with the oldest failure makes room. Default: 1 024.
    package static let addressCountMax = 1024

    private struct Failures: Sendable {
        var count = 0
        var lastAt: Timestamp
    }

    private var byAddress: [String: Failures] = [:]

    package init() {}

    package var addressCount: Int { byAddress.count }

    /// Counts a failure.
    ///
    /// - Parameter address: Of the client, without its port.
    /// - Returns: How long the client waits for the refusal.
    package mutating func failed(from address: String, at now: Timestamp) -> Duration {
        var failures = byAddress[address] ?? Failures(lastAt: now)
        if now - failures.lastAt > Self.ageMax { failures.count = 0 }
        failures.count = min(failures.count + 1, 1000)
        failures.lastAt = now
        if byAddress[address] == nil { makeRoom(now) }
        byAddress[address] = failures
        let excess = failures.count - Self.freeCount
        guard excess > 0 else { return .zero }
        return min(Self.delayMax, Self.delayInitial * (1 << min(excess - 1, 10)))
    }

    private mutating func makeRoom(_ now: Timestamp) {
        guard byAddress.count >= Self.addressCountMax else { return }
        byAddress = byAddress.filter { now - $0.value.lastAt <= Self.ageMax }
        guard byAddress.count >= Self.addressCountMax, let oldest = byAddress.min(by: { $0.value.lastAt < $1.value.lastAt }) else { return }
        byAddress[oldest.key] = nil
    }
}
