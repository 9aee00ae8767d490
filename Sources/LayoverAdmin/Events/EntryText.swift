import Hummingbird
import LayoverCore
import NIOCore

/// Writes many entries without ever holding the text of all.
struct EntryText: Sendable {
    /// Entries per write; some 200 KiB of text.
    private static let portionCount = 256

    let wall: WallTime

    func write(
        _ entries: [Entry], separator: String, terminator: String = "",
        to writer: inout any ResponseBodyWriter
    ) async throws {
        var rest = entries[...]
        while !rest.isEmpty {
            let portion = rest.prefix(Self.portionCount)
            rest = rest.dropFirst(Self.portionCount)
            var bytes = ByteBuffer()
            for entry in portion {
                var text = try JSONText.bytes(EntryDocument(entry, wall: wall))
                bytes.writeBuffer(&text)
                bytes.writeString(entry.id == entries.last?.id ? terminator : separator)
            }
            try await writer.write(bytes)
        }
    }
}
