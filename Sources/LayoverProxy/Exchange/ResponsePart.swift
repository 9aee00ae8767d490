import LayoverCore
import LayoverHTTP

/// The part of a resumable response that a recipient has: its head, and how much of its body.
struct ResponsePart {
    private let head: ResponseHead
    private var byteCount = 0

    /// Nil: the status is not 200, or the length is unknown.
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
