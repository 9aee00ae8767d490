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

extension CacheRow {
    /// Nil if a value is not what we write: the file may have been damaged in a way that SQLite does not see.
    init?(_ row: Row) {
        guard let sequence: Int64 = Self.value(row, "sequence"), let url = Self.url(row),
            let method: String = Self.value(row, "method"), let status: Int = Self.value(row, "status"),
            let head: Data = Self.value(row, "head"), let names: String = Self.value(row, "vary_names"),
            let varyDigest: Data = Self.value(row, "vary_digest"),
            let isForEveryone: Bool = Self.value(row, "is_for_everyone"),
            let times = Self.times(row), let initialAge: Int = Self.value(row, "initial_age"),
            let date: Int = Self.value(row, "made_at"), let freshUntil: Int = Self.value(row, "fresh_until"),
            let usedAt: Int = Self.value(row, "used_at"), let body = Self.body(row)
        else { return nil }
        self.init(
            sequence: sequence, url: url, method: method, status: status, head: ByteBuffer(bytes: head),
            statedLength: Self.value(row, "stated_length"),
            credentials: (Self.value(row, "credentials") as Data?).map { Array($0) },
            isForEveryone: isForEveryone, varyNames: names.split(separator: ",").map { String($0) },
            varyDigest: Array(varyDigest), times: times, initialAge: initialAge, date: date, freshUntil: freshUntil,
            usedAt: usedAt, contentType: Self.value(row, "content_type"), body: body)
    }

    private static func url(_ row: Row) -> CacheURL? {
        guard let scheme = (value(row, "scheme") as String?).flatMap({ Origin.Scheme(rawValue: $0) }),
            let host: String = value(row, "host"), let port: Int = value(row, "port"),
            let target: String = value(row, "target")
        else { return nil }
        return CacheURL(origin: Origin(scheme: scheme, host: host, port: port), target: target)
    }

    private static func times(_ row: Row) -> CacheTimes? {
        guard let requestedAt: Int = value(row, "requested_at"), let answeredAt: Int = value(row, "answered_at")
        else { return nil }
        return CacheTimes(requestedAt: requestedAt, answeredAt: answeredAt)
    }

    private static func body(_ row: Row) -> KeptBody? {
        guard let byteCount: Int = value(row, "body_byte_count"), byteCount >= 0,
            let digest: Data = value(row, "body_digest")
        else { return nil }
        return KeptBody(file: value(row, "file"), byteCount: byteCount, digest: Array(digest))
    }

    /// GRDB's own subscripts trap on a value of the wrong type.
    private static func value<Value: DatabaseValueConvertible>(_ row: Row, _ column: String) -> Value? {
        Value.fromDatabaseValue(row[column] as DatabaseValue)
    }
}
