/// The order of a list: a field, ascending or descending. Entries that are equal there stand in the order
/// in which they were parked.
package struct EntrySort: Sendable, Hashable, CustomStringConvertible {
    /// The fields that a list can be sorted by, by their names in an entry.
    package enum Field: String, Sendable, Hashable, CaseIterable {
        case attempts, createdAt, endedAt, expiresAt, host, id, lane, method, nextAttemptAt, parkedAt, policy, priority
        case requestBytes, route, state, url
    }

    package var field: Field
    package var isDescending: Bool

    package init(by field: Field, isDescending: Bool = false) {
        self.field = field
        self.isDescending = isDescending
    }

    /// Newest last.
    package static let standard = EntrySort(by: .parkedAt)

    /// Reads a field name, with `-` before it for descending; nil for any other text.
    package init?(_ text: String) {
        isDescending = text.hasPrefix("-")
        guard let field = Field(rawValue: isDescending ? String(text.dropFirst()) : text) else { return nil }
        self.field = field
    }

    package var description: String { (isDescending ? "-" : "") + field.rawValue }

    func place(of entry: Entry, _ naming: EntryNaming) -> Place {
        Place(key: field.key(of: entry, naming), sequence: entry.sequence)
    }

    func isBefore(_ left: Place, _ right: Place) -> Bool {
        let order = compare(left.key, right.key)
        if order != 0 { return isDescending ? order > 0 : order < 0 }
        return isDescending ? left.sequence > right.sequence : left.sequence < right.sequence
    }
}

extension EntrySort {
    /// Negative, 0 or positive.
    private func compare(_ left: Key, _ right: Key) -> Int {
        switch (left, right) {
        case (.number(let left), .number(let right)): left == right ? 0 : left < right ? -1 : 1
        case (.text(let left), .text(let right)): field == .url ? URLOrder.compare(left, right) : TextOrder.compare(left, right)
        // A cursor of another field, which no list accepts.
        case (.number, .text): -1
        case (.text, .number): 1
        }
    }

    /// What entries are compared by. One field always gives keys of one kind.
    enum Key: Sendable, Hashable {
        case number(Int64)
        case text(String)
    }

    /// Where an entry stands in a sorted list.
    struct Place: Sendable, Hashable {
        var key: Key
        var sequence: Int
    }
}

extension EntrySort.Field {
    /// A cursor shows its key, so texts are compared as they are shown.
    func key(of entry: Entry, _ naming: EntryNaming) -> EntrySort.Key {
        switch self {
        case .attempts: .number(Int64(entry.attemptCount))
        case .createdAt: .number(entry.createdAt.nanoseconds)
        case .endedAt: .number((entry.endedAt ?? .distantFuture).nanoseconds)
        case .expiresAt: .number(entry.expiresAt.nanoseconds)
        case .host: .text(InternationalName.readable(entry.origin.host) ?? entry.origin.host)
        case .id: .text(naming.shown(entry.id).description)
        case .lane: .text(entry.shownLane ?? "")
        case .method: .text(entry.method)
        // What never goes by itself goes last.
        case .nextAttemptAt: .number((entry.nextAttemptAt ?? .distantFuture).nanoseconds)
        case .parkedAt: .number(entry.parkedAt.nanoseconds)
        case .policy: .text(entry.policy.name)
        case .priority: .number(Int64(entry.priority))
        case .requestBytes: .number(Int64(entry.requestByteCount))
        case .route: .text(entry.route ?? "")
        case .state: .text(entry.state.rawValue)
        case .url: .text(MaskedURL.text(entry.url))
        }
    }
}
