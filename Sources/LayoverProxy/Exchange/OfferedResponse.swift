import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// A response that is held back while the engine says whether its request may be tried again, or while its body is read for a code.
///
/// What comes after the head waits here too. The worker pauses by itself when it is too much, because none
/// of it counts as taken.
///
/// A class: most exchanges never have one, and as a part of them it would make each 100 bytes larger.
final class OfferedResponse {
    let head: ResponseHead
    var rest: [UpstreamEvent] = []
    /// Whether the body is read for the code of a conflict. The engine does not know of the response yet, and it is never delivered.
    let readsCode: Bool

    init(head: ResponseHead, readsCode: Bool = false) { (self.head, self.readsCode) = (head, readsCode) }

    /// Whether nothing more will come of the attempt.
    var isOver: Bool {
        switch rest.last {
        case .end, .failed: true
        default: false
        }
    }

    /// Bytes of the body that have come.
    var byteCount: Int {
        rest.reduce(0) { sum, event in
            if case .body(let bytes) = event { sum + bytes.readableBytes } else { sum }
        }
    }

    /// Whether the whole body has come, and has the code of a conflict.
    var isConflict: Bool {
        guard readsCode, case .end? = rest.last else { return false }
        var body: [UInt8] = []
        for case .body(let bytes) in rest { body += bytes.readableBytesView }
        return ConflictCode.isIn(body)
    }
}
