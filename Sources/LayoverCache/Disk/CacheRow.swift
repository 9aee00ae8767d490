import Foundation
import GRDB
import LayoverCore
import LayoverEngine
import NIOCore

/// One kept response in the index.
struct CacheRow: Sendable {
    var sequence: Int64 = 0
    var url: CacheURL
    var method: String
    var status: Int
    /// `KeptHead`.
    var head: ByteBuffer
    /// The length that a response to HEAD stated.
    var statedLength: Int?
    /// Keyed digest; nil for a response for everyone, or to a request without any.
    var credentials: [UInt8]?
    var isForEveryone: Bool
    var varyNames: [String]
    /// Keyed digest of what the request said in these fields.
    var varyDigest: [UInt8]
    var times: CacheTimes
    var initialAge: Int
    /// When the origin made it.
    var date: Int
    var freshUntil: Int
    var usedAt: Int
    var contentType: String?
    var body: KeptBody

    var byteCount: Int { head.readableBytes + body.byteCount }
}

extension CacheRow {
    static let columns = """
        scheme, host, port, target, method, status, head, stated_length, credentials, is_for_everyone, vary_names, \
        vary_digest, requested_at, answered_at, initial_age, made_at, fresh_until, used_at, content_type, file, \
        body_byte_count, body_digest, byte_count
        """

    static let placeholders = Array(repeating: "?", count: 23).joined(separator: ", ")

    var arguments: StatementArguments {
        [
            url.origin.scheme.rawValue, url.origin.host, url.origin.port, url.target, method, status,
            Data(head.readableBytesView), statedLength, credentials.map { Data($0) }, isForEveryone,
            varyNames.joined(separator: ","), Data(varyDigest), times.requestedAt, times.answeredAt, initialAge,
            date, freshUntil, usedAt, contentType, body.file, body.byteCount, Data(body.digest), byteCount,
        ]
    }
}
