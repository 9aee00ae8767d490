import LayoverCore
import LayoverCrypto
import LayoverEngine
import NIOCore

/// Tells whether two requests with the same `Idempotency-Key` are the same request.
struct PayloadDigest {
    private var payload: SHA256
    /// The key of the mark; it is known before the body is.
    let key: [UInt8]

    /// - Parameters:
    ///   - key: The value of `Idempotency-Key`.
    ///   - identity: Whoever asks: nobody gets at the ticket of another by guessing a key.
    init(key: String, identity: [String], method: String, origin: Origin, target: String) throws {
        var hash = try SHA256()
        for part in [key, origin.description] + identity { try Self.add(part, to: &hash) }
        self.key = try hash.digest()
        payload = try SHA256()
        for part in [method, target] { try Self.add(part, to: &payload) }
    }

    /// With its length in front, so that no two lists of parts look the same.
    private static func add(_ part: String, to hash: inout SHA256) throws {
        try hash.update(Array("\(part.utf8.count):\(part)".utf8))
    }

    mutating func update(_ bytes: ByteBuffer) {
        Self.unfailing { try bytes.withUnsafeReadableBytes { try payload.update($0) } }
    }

    var mark: IdempotencyMark { IdempotencyMark(key: key, payload: Self.unfailing { try payload.digest() }) }

    /// Once a digest has begun, only memory that has run out can stop it, and then Swift's own allocations trap too. A
    /// request without its digest could be taken for another one.
    private static func unfailing<Value>(_ body: () throws -> Value) -> Value {
        do { return try body() } catch { fatalError("\(error)") }
    }
}
