import Hummingbird
import NIOCore

/// Writes many documents without ever holding the text of all.
struct ListText: Sendable {
    /// Documents per write; some 200 KiB of text.
    static let portionCount = 256

    let separator: String
    /// After the last one.
    var terminator = ""

    func write<Element>(
        _ elements: [Element], to writer: inout any ResponseBodyWriter,
        as document: (Element) -> some Encodable
    ) async throws {
        var rest = elements[...]
        while !rest.isEmpty {
            let portion = rest.prefix(Self.portionCount)
            rest = rest.dropFirst(Self.portionCount)
            var bytes = ByteBuffer()
            for (index, element) in zip(portion.indices, portion) {
                var text = try JSONText.bytes(document(element))
                bytes.writeBuffer(&text)
                bytes.writeString(index == elements.count - 1 ? terminator : separator)
            }
            try await writer.write(bytes)
        }
    }
}
