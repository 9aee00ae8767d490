import FoundationEssentials
import LayoverHTTP
package import NIOCore

/// Several requests that are sent through the proxy and answered together.
struct BatchRequest: Decodable {
    /// Most requests of one batch.
    static let countMax = 100
    /// Requests under way at once. Default: 8; at most 32.
    static let standardConcurrency = 8
    static let concurrencyMax = 32
    /// Bytes of the whole document. Default: 8 MiB.
    static let byteCountMax = 8 << 20

    enum CodingKeys: String, CodingKey, CaseIterable { case requests, concurrency }

    var requests: [BatchItem]
    var concurrency: Int

    init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        requests = try container.decode([BatchItem].self, forKey: .requests)
        concurrency = try container.given(Int.self, forKey: .concurrency) ?? Self.standardConcurrency
        guard (1...Self.countMax).contains(requests.count) else {
            throw AdminProblem.malformedBody("'requests' must have 1 to \(Self.countMax) members.")
        }
        guard (1...Self.concurrencyMax).contains(concurrency) else {
            throw AdminProblem.malformedBody("'concurrency' must be 1 to \(Self.concurrencyMax).")
        }
        for (index, request) in requests.enumerated() {
            if let reason = request.refusal { throw AdminProblem.malformedBody("'requests[\(index)].\(reason)") }
        }
    }
}

/// One request of a batch.
package struct BatchItem: Decodable, Sendable {
    enum CodingKeys: String, CodingKey, CaseIterable { case method, url, fields, body, bodyEncoding }

    /// How a body stands in JSON.
    package enum BodyEncoding: String, Codable, Sendable { case utf8, base64 }

    package var method: String
    /// Absolute, `http` or `https`.
    package var url: String
    package var fields: [(name: String, value: String)]
    package var body: ByteBuffer?
    /// Whether the body was not what its encoding says.
    private var isBodyBroken = false

    package init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(otherThan: CodingKeys.self)
        let container = try decoder.container(keyedBy: CodingKeys.self)
        method = try container.given(String.self, forKey: .method) ?? "GET"
        url = try container.decode(String.self, forKey: .url)
        fields = try container.given([String: String].self, forKey: .fields)?.sorted { $0.key < $1.key }.map { ($0.key, $0.value) } ?? []
        let encoding = try container.given(BodyEncoding.self, forKey: .bodyEncoding) ?? .utf8
        guard let text = try container.given(String.self, forKey: .body) else { return }
        switch encoding {
        case .utf8: body = ByteBuffer(string: text)
        case .base64:
            let bytes = Data(base64Encoded: text)
            isBodyBroken = bytes == nil
            body = bytes.map { ByteBuffer(bytes: $0) }
        }
    }

    /// Fields that say how a message is framed or where it goes; they are the sender's, not the caller's.
    private static let ownFields: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "upgrade", "te", "trailer",
        "expect",
    ]

    /// The first invalid member, and what is wrong with it; nil if all members are valid.
    var refusal: String? {
        guard Token.isToken(method), method != "CONNECT" else { return "method' is not the name of a method that can be sent." }
        guard url.hasPrefix("http://") || url.hasPrefix("https://"), url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            !url.contains("#")
        else { return "url' must be an absolute http or https URL without a fragment, percent-encoded." }
        for (name, value) in fields {
            guard Token.isToken(name), value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
                return "fields' has a name or a value that cannot be sent."
            }
            if Self.ownFields.contains(name.lowercased()) { return "fields' must not have '\(name)'." }
        }
        if isBodyBroken { return "body' is not base64." }
        return nil
    }
}
