import FoundationEssentials
import Hummingbird
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

    /// - Throws: `AdminProblem` with a sentence that names the place.
    static func decode<Document: Decodable>(_ type: Document.Type, from bytes: ByteBuffer) throws -> Document
    {
        // JSON between systems is UTF-8 (RFC 8259 section 8.1), in which no NUL can stand; the decoder would take UTF-16 too.
        guard !bytes.readableBytesView.contains(0) else { throw AdminProblem.malformedBody("The body is no valid JSON.") }
        if let name = RepeatedName.first(in: Array(bytes.readableBytesView)) {
            throw AdminProblem.malformedBody("'\(name.prefix(100))' appears twice in one object.")
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes.readableBytesView))
        } catch let error as DecodingError {
            throw AdminProblem.malformedBody(error.sentence)
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

/// Finds a name that appears twice in one object of a JSON text.
///
/// The meaning of such an object is undefined (RFC 8259 section 4), and a decoder silently keeps one of the values:
/// `{"dryRun":true,"dryRun":false}` must not be carried out. Names are compared after their escapes are undone. Of a text
/// that is no JSON nothing is said here: the decoder refuses it.
struct RepeatedName {
    /// Objects and arrays that are open; an array has no names.
    private var open: [Set<String>?] = []
    private var awaitsName = false

    /// The first repeated name; nil if no name is repeated.
    static func first(in text: [UInt8]) -> String? {
        var search = RepeatedName()
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "\"") {
                let end = Self.end(ofStringAt: index, in: text)
                if let name = search.took(text[index..<end]) { return name }
                index = end
            } else {
                search.took(text[index])
                index += 1
            }
        }
        return nil
    }

    private mutating func took(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "{"):
            open.append([])
            awaitsName = true
        case UInt8(ascii: "["):
            open.append(nil)
            awaitsName = false
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            _ = open.popLast()
            awaitsName = false
        case UInt8(ascii: ","):
            awaitsName = (open.last ?? nil) != nil
        default: break
        }
    }

    /// - Returns: The string, where it is a name and its object has it already.
    private mutating func took(_ string: ArraySlice<UInt8>) -> String? {
        guard awaitsName, let name = Self.text(of: string), let place = open.indices.last else { return nil }
        awaitsName = false
        return open[place]?.insert(name).inserted == false ? name : nil
    }

    /// The place behind a string that begins with a quotation mark.
    private static func end(ofStringAt start: Int, in text: [UInt8]) -> Int {
        var index = start + 1
        while index < text.count {
            if text[index] == UInt8(ascii: "\"") { return index + 1 }
            index += text[index] == UInt8(ascii: "\\") ? 2 : 1
        }
        return text.count
    }

    private static func text(of string: ArraySlice<UInt8>) -> String? {
        guard string.contains(UInt8(ascii: "\\")) else {
            return String(validating: string.dropFirst().dropLast(), as: UTF8.self)
        }
        return try? JSONDecoder().decode(String.self, from: Data(string))
    }
}

/// A value that is written as `null` when it is absent, instead of being left out.
@propertyWrapper
package struct OrNull<Value: Codable & Sendable>: Codable, Sendable {
    package var wrappedValue: Value?

    package init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        wrappedValue = container.decodeNil() ? nil : try container.decode(Value.self)
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if let wrappedValue { try container.encode(wrappedValue) } else { try container.encodeNil() }
    }
}

extension OrNull: Equatable where Value: Equatable {}
