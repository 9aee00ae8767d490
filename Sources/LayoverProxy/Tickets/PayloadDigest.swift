import Crypto
import LayoverCore
import LayoverEngine
import NIOCore

/// Tells whether two requests with the same `Idempotency-Key` are the same request.
struct PayloadDigest {
    private var payload = SHA256()
    /// The key of the mark; it is known before the body is.
    let key: [UInt8]

    /// - Parameters:
    ///   - key: The value of `Idempotency-Key`.
    ///   - identity: Whoever asks: nobody gets at the ticket of another by guessing a key.
    init(key: String, identity: [String], method: String, origin: Origin, target: String) {
        var hash = SHA256()
        for part in [key, origin.description] + identity { Self.add(part, to: &hash) }
        self.key = Array(hash.finalize())
        for part in [method, target] { Self.add(part, to: &payload) }
    }

    /// With its length in front, so that no two lists of parts look the same.
    private static func add(_ part: String, to hash: inout SHA256) {
        hash.update(data: Array("\(part.utf8.count):\(part)".utf8))
    }

    mutating func update(_ bytes: ByteBuffer) {
        bytes.withUnsafeReadableBytes { payload.update(bufferPointer: $0) }
    }

    var mark: IdempotencyMark { IdempotencyMark(key: key, payload: Array(payload.finalize())) }
}
