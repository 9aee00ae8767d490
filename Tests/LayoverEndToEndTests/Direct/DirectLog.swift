import Foundation
import LayoverTestSupport
import Synchronization

/// Log of one run of a scene, line by line: the bytes that the origin received and the events at the client.
final class DirectLog: Sendable {
    enum Side: String, Sendable { case origin, client }

    private let lines = Mutex<[Side: [String]]>([:])

    /// Fires when the client has the head of a final response.
    let clientHasHead = Signal()
    /// Fires when the client has closed its connection before the end of its script.
    let clientHasLeft = Signal()
    private let hadDelay = Atomic(false)

    /// True if a timer of Layover may have expired that has no part in the scene, because this machine was too slow.
    var isVoid: Bool { hadDelay.load(ordering: .acquiring) }

    func note(_ side: Side, _ line: String) { lines.withLock { $0[side, default: []].append("\(side): \(line)") } }

    /// Runs a part of the scene. The run is void if the part takes so long that a timer of Layover may have expired.
    func mustEnd(within limit: Duration, _ body: () -> Void) {
        let took = ContinuousClock().measure(body)
        if took >= limit { hadDelay.store(true, ordering: .releasing) }
    }

    /// The order within each side counts; between the two it is a race.
    var all: [String] { lines.withLock { ($0[.origin] ?? []) + ($0[.client] ?? []) } }

    /// Fields that belong to a connection or to a proxy (RFC 9110 sections 7.6.1 and 7.6.3).
    private static let ofConnections: Set<String> = [
        "connection", "content-length", "keep-alive", "proxy-connection", "proxy-status", "te", "transfer-encoding", "via",
        // Layover adds the field to a response without one (RFC 9110 section 6.6.1).
        "date",
    ]

    /// A head without what may differ between two connections.
    static func essence(_ head: String) -> String {
        let lines = head.split(separator: "\r\n").map(String.init)
        let fields = lines.dropFirst().filter { line in
            !ofConnections.contains(line.prefix { $0 != ":" }.lowercased())
        }.map { $0.hasPrefix("Host: 127.0.0.1:") || $0.hasPrefix("Host: localhost:") ? "Host: HOST" : $0 }
        return ([lines.first ?? ""] + fields).joined(separator: " | ")
    }

    /// The length of a body and a value that differs where its bytes do.
    static func essence(_ body: some ContiguousBytes & Collection) -> String {
        var hasher = Hasher()
        body.withUnsafeBytes { hasher.combine(bytes: $0) }
        return "\(body.count) bytes \(String(UInt(bitPattern: hasher.finalize()), radix: 16))"
    }
}

/// Bytes of bodies: each place has other ones, so that a part that is lost, doubled or moved is noticed.
enum DirectBytes {
    private static let all: Data = {
        let numbers = (0..<UInt32(2 << 20)).map { $0 &* 2_654_435_761 }
        return numbers.withUnsafeBytes { Data($0) }
    }()

    /// - Parameter count: At most 8 MiB.
    static func first(_ count: Int) -> Data { all.prefix(count) }
}
