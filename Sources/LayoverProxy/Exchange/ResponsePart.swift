import LayoverCore
import LayoverHTTP

/// What a recipient has of a response that can be resumed, if anything can: its head, and how much of its body.
struct ResponsePart {
    private let head: ResponseHead
    private var byteCount = 0

    /// Nil: not status 200, or of unknown length.
    init?(_ head: ResponseHead) {
        guard head.status == 200, head.contentLength != nil else { return nil }
        self.head = head
    }

    /// So many bytes more have come.
    mutating func came(_ count: Int) { byteCount += count }

    /// - Parameter now: Seconds since 1970.
    func resumable(to request: ResumableRequest, now: Int) -> ResumableResponse? {
        ResumableResponse(ResumeFacts(head, now: now), to: request, done: byteCount)
    }
}
