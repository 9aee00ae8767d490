import CCurl
import LayoverHTTP

// Responses by HTTP/2 that come before their request was sent (decision 93).

extension Transfer {
    /// libcurl 7.88.1 stops reading when it has as many bytes as Content-Length says, and then the WINDOW_UPDATE frames are not read that
    /// it needs for the rest of the request. The stream has an end of its own, and Layover compares the length.
    func readsToTheEndOfTheStream() {
        if !isRequestSent { setIgnoresLength(true) }
    }

    /// libcurl asked for a piece of the request, or has sent one.
    func sentPiece() {
        guard receiving.isHTTP2, receiving.framing != nil, !sending.mayHaveEnded else { return }
        sending.mayHaveEnded = true
        loop.readsAgain(self)
    }

    /// Makes libcurl read once the request is sent. Where the response had ended before, the stream is closed now, and libcurl 7.88.1
    /// finds that out only when it reads. Nothing more may come that would make it read.
    func readIfRequestEnded() {
        guard sending.mayHaveEnded else { return }
        sending.mayHaveEnded = false
        guard isRequestSent, descriptor >= 0 else { return }
        generation?.act(on: descriptor, events: Poller.readable)
    }

    /// Whether libcurl says why it cannot send: `stream 1 closed`. It says so only of streams that ended without an error.
    static func isStreamClosed(_ text: UnsafeRawBufferPointer) -> Bool {
        text.starts(with: streamRemark) && String(decoding: text, as: UTF8.self).hasSuffix(" closed\n")
    }

    private static let streamRemark = Array("stream ".utf8)
}
