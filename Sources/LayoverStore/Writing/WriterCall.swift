import LayoverCore
import LayoverEngine
import NIOCore

/// A call to the writer.
enum WriterCall: Sendable {
    case commit(ChangesCall)
    case removeEnded(before: Timestamp, limit: Int, done: @Sendable (Result<Int, StoreFailure>) -> Void)
    case close(done: @Sendable () -> Void)
}

/// Changes that are committed all or none.
struct ChangesCall: Sendable {
    var changes: [StoreChange]
    var done: @Sendable (Result<[StoreResult], StoreFailure>) -> Void

    /// Whether the call makes the database bigger. A call that does not may still succeed on a full disk, and free space.
    var needsRoom: Bool {
        changes.contains {
            switch $0 {
            case .insert, .delivered: true
            case .update, .started, .lateEvidence, .dropResponse, .forgetKey, .seen: false
            }
        }
    }

    var inlineByteCount: Int {
        changes.reduce(0) { sum, change in
            switch change {
            case .insert(_, let request, _): sum + Self.inlineByteCount(request.body)
            case .delivered(_, let response): sum + Self.inlineByteCount(response.body)
            case .update, .started, .lateEvidence, .dropResponse, .forgetKey, .seen: sum
            }
        }
    }

    private static func inlineByteCount(_ body: StoredBody) -> Int {
        if case .inline(let bytes) = body { bytes.readableBytes } else { 0 }
    }
}
