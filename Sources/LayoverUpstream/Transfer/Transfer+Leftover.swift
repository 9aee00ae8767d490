import CCurl
import Glibc
import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

// What the origin sent before a send failed (decision 85). libcurl ends a transfer at a failed send and closes the connection; what has
// come by then would be lost.

extension Transfer {
    /// Bytes that are read after a failed send, at most. Default: 256 KiB.
    private static let leftoverByteCountMax = 256 << 10

    private static let failedSendRemark = Array("Send failure".utf8)
    private static let failedTLSSendRemark = Array("OpenSSL SSL_write".utf8)

    /// DEBUGFUNCTION: libcurl says that a send has failed, and the connection is still open.
    ///
    /// Under TLS the failed send is reported twice, first from within OpenSSL, which must not be called there.
    func sendFailed(_ remark: UnsafeRawBufferPointer) {
        guard remark.starts(with: setOptions.isSecure ? Self.failedTLSSendRemark : Self.failedSendRemark) else { return }
        // An HTTP/2 connection carries other streams, too. While receiving is paused, libcurl holds bytes back that would be missing here.
        guard sending.count == 1, !receiving.isHTTP2, !receiving.isPaused, receiving.leftover == nil,
            attempt?.request.parentProxyUse == ParentProxyUse.none
        else { return }
        guard receiving.framing == nil ? !receiving.hasBegun : receiving.isError else { return }
        var bytes = ByteBuffer()
        while bytes.readableBytes < Self.leftoverByteCountMax, readLeftover(into: &bytes) {}
        receiving.leftover = bytes
    }

    /// - Returns: Whether there was something. It never waits.
    private func readLeftover(into bytes: inout ByteBuffer) -> Bool {
        var count = 0
        bytes.writeWithUnsafeMutableBytes(minimumWritableBytes: 16 << 10) { memory in
            if !setOptions.isSecure {
                count = recv(descriptor, memory.baseAddress, memory.count, CInt(MSG_DONTWAIT))
            } else if let tls = layover_get_tls(easy) {
                count = loop.options.readTLS?(OpaquePointer(tls), memory) ?? 0
            }
            count = max(0, count)
            return count
        }
        return count > 0
    }

    /// Passes on the error response that is in the leftover, or the rest of one that had begun before.
    ///
    /// - Returns: The end of the response. Nil if the response is not complete or is a success: a success does not count for a request
    ///   that was cut.
    func concludeLeftover(_ code: CURLcode) -> UpstreamEvent? {
        guard code == CURLE_SEND_ERROR, abortCause == nil, let leftover = receiving.leftover, let attempt else { return nil }
        if let framing = receiving.framing {
            guard case .length(let count) = framing, let rest = leftover.getSlice(at: 0, length: count - receiving.bodyByteCount) else {
                return nil
            }
            pendingBody.writeImmutableBuffer(rest)
            releaseBody()
            return .end(trailers: nil)
        }
        guard let response = errorResponse(in: leftover, of: attempt) else { return nil }
        // An origin that closes a kept connection may say 408 to no request at all (RFC 9110 section 15.5.9).
        if sending.wasOnReusedConnection, response.head.status == 408 { return nil }
        if attempt.wantsConnectionFacts { attempt.connectionFacts = connectionFacts }
        loop.outbox.add(.head(response.head, sendings: sending.count), of: attempt)
        pendingBody = response.body
        releaseBody()
        return .end(trailers: response.trailers)
    }

    private func errorResponse(
        in leftover: ByteBuffer, of attempt: UpstreamAttempt
    ) -> (head: ResponseHead, body: ByteBuffer, trailers: ByteBuffer?)? {
        var input = leftover
        var decoder = ResponseDecoder(limits: loop.options.responseLimits)
        decoder.reset(isHeadRequest: attempt.request.method == "HEAD")
        var answer: ResponseHead?
        var body = ByteBuffer()
        do throws(FramingError) {
            while let event = try decoder.next(&input) {
                switch event {
                case .head(let head): if !head.isInterim { answer = head }
                case .body(let bytes): body.writeImmutableBuffer(bytes)
                case .end(let trailers):
                    guard let answer, answer.status >= 300 else { return nil }
                    return (answer, body, trailers)
                }
            }
        } catch {
            return nil
        }
        return nil
    }
}
