import LayoverCore
package import NIOCore

/// Where the bytes of a body lie.
package enum StoredBody: Sendable, Hashable {
    case none
    /// In the row itself.
    case inline(ByteBuffer)
    /// In a file of the spool folder, by its name (`isFileName`). It was written and synced, and so was the
    /// folder, before this value was made.
    case file(name: String, byteCount: Int)

    package var byteCount: Int {
        switch self {
        case .none: 0
        case .inline(let bytes): bytes.readableBytes
        case .file(_, let count): count
        }
    }

    /// The name of the body's file. Nil: the body is in no file.
    package var fileName: String? { if case .file(let name, _) = self { name } else { nil } }

    /// Whether a name is one that a row may hold: the ticket's id, and what the body belongs to. Other files of the
    /// spool folder belong to others and are left alone.
    package static func isFileName(_ name: String) -> Bool {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 2 && EntryID(parts[0]) != nil && (parts[1] == "request" || parts[1] == "answer")
    }
}
