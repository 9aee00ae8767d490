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

    package func place(of entry: some ListedEntry, _ naming: EntryNaming) -> Place {
        Place(key: field.key(of: entry, naming), sequence: entry.sequence)
    }

    package func isBefore(_ left: Place, _ right: Place) -> Bool {
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
        case (.text(let left), .text(let right)): TextOrder.compare(left, right)
        case (.url(let left), .url(let right)): left.compare(right)
        // A cursor of another field, which no list accepts.
        case (.number, _), (.text, .url): -1
        case (_, .number), (.url, .text): 1
        }
    }

    /// What entries are compared by. One field always gives keys of one kind.
    package enum Key: Sendable, Hashable {
        case number(Int64)
        case text(String)
        case url(ListedURL)
    }

    /// Where an entry stands in a sorted list.
    package struct Place: Sendable, Hashable {
        package var key: Key
        package var sequence: Int
    }

    /// The same order of the same entries by another clock.
    ///
    /// - Parameter clock: What is added to the times.
    func shifted(_ place: Place, by clock: TicketClock) -> Place {
        guard case .number(let number) = place.key else { return place }
        let offset =
            switch field {
            case .createdAt, .endedAt: clock.offset
            case .expiresAt: clock.measuredOffset
            default: Int64(0)
            }
        return Place(key: .number(number == Timestamp.distantFuture.nanoseconds ? number : number &+ offset), sequence: place.sequence)
    }
}

extension EntrySort.Field {
    /// A cursor shows its key, so texts are compared as they are shown.
    func key(of entry: some ListedEntry, _ naming: EntryNaming) -> EntrySort.Key {
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
        // They are parked in the order of their sequence, whatever the date said at the time.
        case .parkedAt: .number(0)
        case .policy: .text(entry.policyName)
        case .priority: .number(Int64(entry.priority))
        case .requestBytes: .number(Int64(entry.requestByteCount))
        case .route: .text(entry.route ?? "")
        case .state: .text(entry.state.rawValue)
        case .url: .url(ListedURL(entry.url))
        }
    }
}

/// The order of texts in a list: as people sort them, whatever the case of letters, and letters with marks beside those without.
enum TextOrder {
    /// Negative, 0 or positive. Texts that differ only in case are equal here.
    static func compare(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        let result = left.withUTF8 { left in
            right.withUTF8 { right -> Int? in
                ASCIIScan.isASCII(left) && ASCIIScan.isASCII(right) ? ASCIIScan.compare(left, right) : nil
            }
        }
        if let result { return result }
        let (one, other) = (Collated(left), Collated(right))
        return one == other ? 0 : one < other ? -1 : 1
    }

    /// What is compared first: the letters without their marks. Only then the marks, and never the case.
    private struct Collated: Equatable {
        let base: String
        let folded: String

        init(_ text: String) {
            folded = text.uppercased().lowercased()
            var base = String.UnicodeScalarView()
            for scalar in folded.unicodeScalars
            where !scalar.properties.isDiacritic && scalar.properties.canonicalCombiningClass == .notReordered {
                base.append(contentsOf: TextOrder.base(of: scalar))
            }
            self.base = String(base)
        }

        static func < (one: Self, other: Self) -> Bool { (one.base, one.folded) < (other.base, other.folded) }
    }

    /// `é` and `ø` are sorted as `e` and `o`. The name of a letter in the Unicode character database tells what it is made of.
    private static func base(of scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        guard !scalar.isASCII, let name = scalar.properties.name, name.hasPrefix(latin) else { return [scalar] }
        let rest = name.dropFirst(latin.count)
        guard let letter = rest.unicodeScalars.first, rest.dropFirst().hasPrefix(" WITH ") else { return [scalar] }
        return Array(String(letter).lowercased().unicodeScalars)
    }

    private static let latin = "LATIN SMALL LETTER "
}

/// The order of URLs in a list: by what stands before the query, then by the query.
enum URLOrder {
    /// Negative, 0 or positive.
    static func compare(_ left: String, _ right: String) -> Int {
        let order = compareHeads(left, right)
        return order == 0 ? TextOrder.compare(left, right) : order
    }

    /// The same by what stands before the query alone.
    static func compareHeads(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        let result = left.withUTF8 { left in
            right.withUTF8 { right -> Int? in
                let (left, right) = (head(left), head(right))
                return ASCIIScan.isASCII(left) && ASCIIScan.isASCII(right) ? ASCIIScan.compare(left, right) : nil
            }
        }
        return result ?? TextOrder.compare(String(left.prefix { $0 != "?" }), String(right.prefix { $0 != "?" }))
    }

    private static func head(_ url: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: url[..<(url.firstIndex(of: UInt8(ascii: "?")) ?? url.count)])
    }
}
