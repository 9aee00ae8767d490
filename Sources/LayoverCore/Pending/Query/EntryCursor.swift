import LayoverText

/// A position in a sorted list: the next page begins after it, whatever has come and gone since.
package struct EntryCursor: Sendable, Hashable, CustomStringConvertible {
    /// A cursor is only good for the order it was made in.
    package let sort: EntrySort
    package let place: EntrySort.Place

    package init(after place: EntrySort.Place, in sort: EntrySort) {
        self.sort = sort
        self.place = place
    }

    /// Reads what `description` wrote; nil for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let sort = EntrySort(String(parts[0])), let key = Self.key(parts[1], of: sort.field),
            let sequence = Int(parts[2])
        else { return nil }
        // Nothing but the sequence counts there, whatever a cursor says.
        self.init(after: EntrySort.Place(key: sort.field == .parkedAt ? .number(0) : key, sequence: sequence), in: sort)
    }

    /// Letters, digits, `-` and `.` only, so that it needs no escaping in a URL. Opaque to clients.
    package var description: String {
        let key =
            switch place.key {
            case .number(let number): "n\(number)"
            case .text(let text): "t" + Hexadecimal.text(of: text.utf8)
            case .url(let url): "t" + Hexadecimal.text(of: url.shown.utf8)
            }
        return "\(sort).\(key).\(place.sequence)"
    }

    private static func key(_ text: Substring, of field: EntrySort.Field) -> EntrySort.Key? {
        switch text.first {
        case "n": return Int64(text.dropFirst()).map { .number($0) }
        case "t":
            guard let bytes = Hexadecimal.bytes(text.dropFirst()) else { return nil }
            return String(validating: bytes, as: UTF8.self).map { field == .url ? .url(ListedURL($0)) : .text($0) }
        default: return nil
        }
    }
}
