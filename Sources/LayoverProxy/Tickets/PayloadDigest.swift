import LayoverCore
import LayoverEngine
import LayoverSystem
import NIOCore

/// Tells whether two requests with the same `Idempotency-Key` are the same request.
struct PayloadDigest {
    /// Nil once OpenSSL has failed; the request is then equal to no other one.
    var payload: SHA256?
    /// Stands in for a digest that failed. Random, so no other request has it.
    private let replacement: [UInt8]
    /// The key of the mark; it is known before the body is.
    let key: [UInt8]

    /// - Parameters:
    ///   - key: The value of `Idempotency-Key`.
    ///   - identity: Who asks: a guessed key gives no access to the ticket of another client.
    init(key: String, identity: [String], method: String, origin: Origin, target: String) throws {
        var hash = try SHA256()
        for part in [key, origin.description] + identity { try Self.add(part, to: &hash) }
        self.key = try hash.digest()
        var payload = try SHA256()
        for part in [method, target] { try Self.add(part, to: &payload) }
        self.payload = payload
        replacement = try RandomBytes.make(count: SHA256.byteCount)
    }

    /// With its length in front, so that no two lists of parts look the same.
    private static func add(_ part: String, to hash: inout SHA256) throws {
        try hash.update(Array("\(part.utf8.count):\(part)".utf8))
    }

    mutating func update(_ bytes: ByteBuffer) {
        do { try bytes.withUnsafeReadableBytes { try payload?.update($0) } } catch { payload = nil }
    }

    /// A digest that has begun fails only when memory has run out. The request goes on then, and a repetition of it is refused,
    /// as a different request with the same key is: without its digest it could be taken for another request.
    var mark: IdempotencyMark { IdempotencyMark(key: key, payload: (try? payload?.digest()) ?? replacement) }
}
