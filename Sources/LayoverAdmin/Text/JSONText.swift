import FoundationEssentials
import NIOCore

/// Documents as JSON text, the same way everywhere: keys in a fixed order, no line breaks.
enum JSONText {
    static func bytes(_ document: some Encodable) throws -> ByteBuffer {
        // An encoder is cheap to make and must not be shared between threads.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: try encoder.encode(document))
    }

    /// Reads Layover's own JSON text; other text becomes a string.
    static func value(of text: String) -> AnyJSON {
        (try? JSONDecoder().decode(AnyJSON.self, from: Data(text.utf8))) ?? .text(text)
    }

    /// - Throws: `Problem` with a sentence that names the place.
    static func decode<Document: Decodable>(_ type: Document.Type, from bytes: ByteBuffer) throws -> Document
    {
        // JSON between systems is UTF-8 (RFC 8259 section 8.1), in which no NUL can stand; the decoder would take UTF-16 too.
        guard !bytes.readableBytesView.contains(0) else { throw Problem.malformedBody("The body is no valid JSON.") }
        if let name = RepeatedName.first(in: Array(bytes.readableBytesView)) {
            throw Problem.malformedBody("'\(name.prefix(100))' appears twice in one object.")
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
        } catch let error as DecodingError {
            throw Problem.malformedBody(error.sentence)
        }
    }
}

extension DecodingError {
    /// The error and its place, without Swift's type names.
    fileprivate var sentence: String {
        switch self {
        case .typeMismatch(_, let context): "\(Self.place(context.codingPath)) has the wrong type."
        case .valueNotFound(_, let context): "\(Self.place(context.codingPath)) must not be null."
        case .keyNotFound(let key, let context): "\(Self.place(context.codingPath + [key])) is missing."
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "The body is no valid JSON."
        case .dataCorrupted(let context):
            "\(Self.place(context.codingPath)): \(context.debugDescription)"
        @unknown default: "The body cannot be read."
        }
    }

    private static func place(_ path: [any CodingKey]) -> String {
        guard !path.isEmpty else { return "The body" }
        let names = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        return "'" + names.joined().drop { $0 == "." } + "'"
    }
}
