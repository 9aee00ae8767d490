import HTTPTypes
import Hummingbird
import HummingbirdCore
import LayoverCore
import NIOCore

/// Reads the body and the fields of requests that change something.
struct RequestInput {
    let byteCountMax: Int

    /// The body as a document; nil if the request has no body.
    ///
    /// - Parameter note: Gets the reason that the body gives.
    func document<Document: Decodable>(
        _ type: Document.Type, of request: Request, _ note: AuditNote? = nil
    ) async throws -> Document? {
        let mediaType = request.headers[.contentType]
        let bytes = try await bytes(of: request)
        // Only this type forces a browser to make a preflight request across sites, even with no body.
        if let mediaType, !Self.isJSON(mediaType) { throw AdminProblem.notJSON }
        guard bytes.readableBytes > 0 else { return nil }
        guard mediaType != nil else { throw AdminProblem.notJSON }
        let document = try JSONText.decode(type, from: bytes)
        if let reasoned = document as? any ReasonedRequest { note?.write { $0.reason = reasoned.reason } }
        return document
    }

    /// The body as the text of a form (WHATWG URL, section application/x-www-form-urlencoded).
    func form(of request: Request) async throws -> String {
        guard (request.headers[.contentType] ?? "").lowercased().hasPrefix("application/x-www-form-urlencoded") else {
            throw AdminProblem.notForm
        }
        return String(buffer: try await bytes(of: request))
    }

    private func bytes(of request: Request) async throws -> ByteBuffer {
        if let length = request.headers[.contentLength].flatMap(Int.init), length > byteCountMax {
            throw AdminProblem.bodyTooLarge(byteCountMax)
        }
        do {
            return try await request.body.collect(upTo: byteCountMax)
        } catch is NIOTooManyBytesError {
            throw AdminProblem.bodyTooLarge(byteCountMax)
        }
    }

    private static func isJSON(_ mediaType: String) -> Bool {
        let name = mediaType.prefix { $0 != ";" }.lowercased()
        return name.split(separator: " ").first == "application/json"
    }

    /// The revisions that If-Match admits (RFC 9110 section 13.1.1); nil when any will do.
    static func revisions(_ request: Request) -> Set<Int>? {
        guard let field = request.headers[.ifMatch] else { return nil }
        let tags = field.split(separator: ",").map { $0.drop { $0 == " " }.prefix { $0 != " " } }
        if tags.contains("*") { return nil }
        // Quotation marks are easily lost in a shell. A weak tag (`W/"3"`) never matches, and is ignored here.
        return Set(tags.compactMap { Int($0.filter { $0 != "\"" }) })
    }
}

/// Any key of a JSON object.
private struct AnyKey: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}

extension KeyedDecodingContainer {
    /// The value of a key; nil if the key is absent. `null` is no value.
    func given<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        contains(key) ? try decode(type, forKey: key) : nil
    }
}

extension Decoder {
    /// Refuses unknown keys: a misspelt filter must not mean "all".
    func refuseKeys<Keys: CodingKey & CaseIterable>(otherThan keys: Keys.Type) throws {
        let known = Set(Keys.allCases.map(\.stringValue))
        let container = try container(keyedBy: AnyKey.self)
        guard let unknown = container.allKeys.first(where: { !known.contains($0.stringValue) }) else {
            return
        }
        throw DecodingError.dataCorruptedError(
            forKey: unknown, in: container,
            debugDescription: "unknown key. Known: \(known.sorted().joined(separator: ", ")).")
    }
}
