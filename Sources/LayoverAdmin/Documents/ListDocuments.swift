import LayoverCore
import LayoverEngine

/// One page of the pending set.
package struct PendingDocument: Codable, Sendable {
    package var data: [EntryDocument]
    /// Of the whole set, whatever the filter.
    package var counts: [String: Int]
    @OrNull package var nextCursor: String?
}

/// The result of a command for many entries.
package struct BulkDocument: Codable, Sendable {
    package struct Result: Codable, Sendable {
        package var id: String
        /// The HTTP status that the command for this entry alone would have been answered with.
        package var status: Int
    }

    /// Live entries that were meant.
    package var matched: Int
    /// Those for which the command was carried out.
    package var done: Int
    /// One for each id, in the order given; empty if the entries were selected otherwise.
    package var results: [Result]
    /// After `retry`: how many of those done go when. Left out for other commands and dry runs.
    package var willGo: [String: Int]?
    /// With `parkedBefore`: how many match that were parked since, and were left alone. Left out without it.
    package var later: Int?
}

/// The name and version of the program.
package struct VersionDocument: Codable, Sendable {
    package var name: String
    package var version: String
}

/// The state of the process, in one word.
package struct HealthDocument: Codable, Sendable {
    package var status: String
}

/// An origin that requests wait for: its gate and its backlog.
package struct OriginDocument: Codable, Sendable {
    package struct Pause: Codable, Sendable {
        package var policy: String
        package var until: String
    }

    /// As a URL without a path; `host:port` where it was a tunnel.
    package var origin: String
    /// `open`, `watched` or `shut`.
    package var gate: String
    package var window: Int
    package var underWay: Int
    package var freshUnderWay: Int
    package var backlog: Int
    package var failures: Int
    @OrNull package var canaryAt: String?
    package var pauses: [Pause]
    /// Open connections, idle ones included.
    package var connections: Int
    /// Requests under way on them.
    package var streams: Int
}

extension OriginDocument {
    init(_ view: OriginView, _ count: ConnectionCount, wall: WallTime) {
        self.init(
            origin: view.origin.description, gate: view.gate.rawValue, window: view.window, underWay: view.underWay,
            freshUnderWay: view.freshUnderWay, backlog: view.backlog, failures: view.failureCount,
            canaryAt: view.canaryAt.map(wall.text(of:)),
            pauses: view.pauses.map { Pause(policy: $0.policy, until: wall.text(of: $0.until)) }, connections: count.open,
            streams: count.busy)
    }

    /// An origin for which no request waits.
    ///
    /// - Parameter window: `limits.perOriginAttempts`.
    init(_ origin: Origin, _ count: ConnectionCount, window: Int) {
        self.init(
            origin: origin.description, gate: OriginView.Gate.open.rawValue, window: window, underWay: 0, freshUnderWay: 0, backlog: 0,
            failures: 0, canaryAt: nil, pauses: [], connections: count.open, streams: count.busy)
    }
}

/// A lane, and what it waits for.
package struct LaneDocument: Codable, Sendable {
    /// The entry that all others of the lane wait for.
    package struct First: Codable, Sendable {
        package var id: String
        package var state: String
    }

    package var lane: String
    /// Live entries.
    package var count: Int
    @OrNull package var first: First?
    /// Whether the others wait for a person.
    package var blocked: Bool
}

extension LaneDocument {
    init(_ view: LaneView, _ entryView: EntryView) {
        let first = view.first.flatMap { id in view.firstState.map { First(id: entryView.shown(id), state: $0.rawValue) } }
        self.init(lane: view.name, count: view.count, first: first, blocked: view.isBlocked)
    }
}

/// A list that has one page.
package struct ListDocument<Item: Codable & Sendable>: Codable, Sendable {
    package var data: [Item]
    @OrNull package var nextCursor: String?
}

/// Counts of the last 15 minutes.
package struct SeriesDocument: Codable, Sendable {
    package struct Bucket: Codable, Sendable {
        /// When the bucket begins.
        package var at: String
        package var parked: Int
        package var attempted: Int
        package var delivered: Int
        package var ended: Int
        package var live: Int
    }

    /// The length of a bucket in seconds.
    package var interval: Int
    /// Oldest first; the last one is not over yet.
    package var data: [Bucket]
}

extension SeriesDocument {
    init(_ buckets: [ActivitySeries.Bucket], wall: WallTime) {
        self.init(
            interval: Int(ActivitySeries.bucketLength.components.seconds),
            data: buckets.map { bucket in
                Bucket(
                    at: wall.text(of: bucket.beginsAt), parked: bucket.parked, attempted: bucket.attempted,
                    delivered: bucket.delivered, ended: bucket.ended, live: bucket.live)
            })
    }
}
