import LayoverCore
import LayoverEngine
import LayoverText

/// The body of a change of one entry: at least one of its keys.
struct PatchRequest: Decodable {
    /// Longest name of a lane, in characters of Unicode.
    static let laneCountMax = 200

    enum CodingKeys: String, CodingKey, CaseIterable {
        case priority, expiresAt, lane
    }

    private var priority: Int?
    private var expiresAt: String?
    /// Nil inside: out of its lane.
    private var lane: String??

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        // `null` is a value of `lane` only.
        if container.contains(.priority) {
            // Read as any number, so that the error for 1.5 names the range. -1 is out of range.
            priority = Int(exactly: try container.decode(Double.self, forKey: .priority)) ?? -1
        }
        if container.contains(.expiresAt) { expiresAt = try container.decode(String.self, forKey: .expiresAt) }
        if container.contains(.lane) { lane = .some(try container.decodeIfPresent(String.self, forKey: .lane)) }
    }

    /// The changes to make, in words.
    var names: String {
        let shownLane = lane.map { "lane \($0.map(MaskedTicketIDs.target) ?? "none")" }
        return [priority.map { "priority \($0)" }, expiresAt.map { "expiresAt \($0)" }, shownLane]
            .compactMap(\.self).joined(separator: ", ")
    }

    func patch(_ wall: WallTime) throws(AdminProblem) -> EntryPatch {
        var patch = EntryPatch(priority: priority, lane: lane)
        if let priority, !(0...7).contains(priority) {
            throw .malformedBody("'priority' must be a whole number from 0 (first) to 7 (last).")
        }
        if let lane = lane ?? nil { try Self.check(lane) }
        if let expiresAt {
            guard let nanoseconds = RFC3339.nanoseconds(of: expiresAt) else {
                throw .malformedBody("'expiresAt' must be an RFC 3339 time such as 2026-11-21T03:52:00Z.")
            }
            // Earlier ones do not fit into the nanoseconds since boot, and would become another time.
            guard nanoseconds >= 0 else { throw .malformedBody("'expiresAt' must not be before 1970.") }
            patch.expiresAt = wall.timestamp(ofNanoseconds: nanoseconds)
        }
        guard patch != EntryPatch() else {
            throw .malformedBody("Send at least one of 'priority', 'expiresAt' and 'lane'.")
        }
        return patch
    }

    private static func check(_ lane: String) throws(AdminProblem) {
        guard (1...laneCountMax).contains(lane.unicodeScalars.count),
            lane.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw .malformedBody("'lane' must be null or a name of 1 to \(laneCountMax) characters, without control characters.")
        }
    }
}
