import LayoverEngine
import LayoverHTTP
import NIOCore

/// A response on its way to its client that is kept at the same time, for those that have asked for the same.
///
/// The upstream goes on as fast as the slower of the two: the client, and what keeps the response. What is over
/// `limits.bodyMax` is not kept, and then the client alone sets the pace.
struct ResponseSharing {
    let capture: ResponseCapture
    private let head: ResponseHead
    private var byClient = 0
    private var byCapture = 0
    private var byBoth = 0

    /// - Parameter took: Called on the loop when the capture has so many bytes more.
    init(_ head: ResponseHead, loop: ProxyLoop, took: @escaping (Int) -> Void) {
        self.head = head
        capture = ResponseCapture(head, loop: loop, byteCountMax: loop.rules.body.byteCountMax, took: took)
    }

    /// - Returns: Bytes that both have now, and had not before.
    mutating func clientTook(_ count: Int) -> Int {
        byClient += count
        return nextByBoth()
    }

    mutating func captureTook(_ count: Int) -> Int {
        byCapture += count
        return nextByBoth()
    }

    private mutating func nextByBoth() -> Int {
        let count = min(byClient, byCapture) - byBoth
        byBoth += count
        return count
    }

    /// All of it has come.
    func finished() -> SharedResponse { capture.shared(head) }
}
