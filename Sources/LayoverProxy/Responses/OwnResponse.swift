import LayoverCore
import LayoverText
import NIOCore

#if canImport(Glibc)
import Glibc
#endif

/// A whole response that the proxy makes itself.
struct OwnResponse {
    var status: Int
    var fields: [(name: String, value: String)]
    var body: String

    init(status: Int, fields: [(name: String, value: String)] = [], body: String = "") {
        self.status = status
        self.fields = fields
        self.body = body
    }

    init(_ problem: Problem, of loop: ProxyLoop) {
        status = problem.status
        fields = [
            ("Content-Type", "application/problem+json"),
            ("Proxy-Status", problem.proxyStatus(identity: loop.configuration.identity)),
        ]
        if let retryAfter = problem.retryAfter {
            let seconds = max(1, Int(retryAfter.inSeconds.rounded(.up)))
            fields.append(("Retry-After", String(seconds)))
        }
        // RFC 9110 section 11.7.1.
        if status == 407 { fields.append(("Proxy-Authenticate", #"Basic realm="Layover", charset="UTF-8""#)) }
        body = problem.json
    }

    /// The response that a policy has in place of the origin's.
    init(_ standIn: StandInResponse, lastFailure: Failure?, attemptCount: Int, of loop: ProxyLoop) {
        status = standIn.status
        fields = standIn.fields.map { ($0.name, $0.value.revealed) }
        let error = lastFailure?.kind.errorType ?? FailureKind.destinationUnavailable.rawValue
        fields.append(
            (
                "Proxy-Status",
                "\(loop.configuration.identity); error=\(error); details=\"stand-in response after \(attemptCount) attempts\""
            ))
        body = standIn.body
    }

    /// The bytes for a client.
    ///
    /// - Parameters:
    ///   - sendsBody: False for a response to HEAD, which announces the length all the same.
    ///   - isOnOwnOrigin: Whether it was asked for at the proxy's own web origin.
    ///   - second: Of its `Date`, in seconds since 1970.
    func encoded(closes: Bool, sendsBody: Bool, isOnOwnOrigin: Bool = false, at second: Int = time(nil)) -> ByteBuffer {
        var out = ByteBuffer()
        out.writeString("HTTP/1.1 \(status) \(StatusText.reason(of: status))\r\n")
        if isOnOwnOrigin { OwnOrigin.write(into: &out) }
        for field in fields { out.writeString("\(field.name): \(field.value)\r\n") }
        if !fields.contains(where: { $0.name.lowercased() == "date" }) { out.writeString("Date: \(HTTPDate.text(second))\r\n") }
        if !fields.contains(where: { $0.name.lowercased() == "cache-control" }) {
            out.writeString("Cache-Control: no-store\r\n")
        }
        // A 304 would state the length of something else (RFC 9110 section 8.6).
        if status != 204, status != 304 { out.writeString("Content-Length: \(body.utf8.count)\r\n") }
        if closes { out.writeString("Connection: close\r\n") }
        out.writeString("\r\n")
        if sendsBody { out.writeString(body) }
        return out
    }
}

/// Without the values of its fields: a stand-in may set a cookie.
extension OwnResponse: CustomStringConvertible {
    var description: String { "\(status), \(fields.count) fields, \(body.utf8.count) bytes of body" }
}

/// What `GET /` on the proxy port shows in a browser.
enum HelpPage {
    static let response = OwnResponse(
        status: 200,
        fields: [
            ("Content-Type", "text/plain; charset=utf-8"), ("Content-Security-Policy", "sandbox"),
            ("X-Content-Type-Options", "nosniff"),
        ],
        body: """
            This is Layover, a local HTTP proxy that holds requests while the network or a server is down.

            Use it in a program:      export http_proxy=http://<this address>
            List waiting requests:    layover pending
            Send or cancel one now:   layover retry ID   layover cancel ID

            """)
}
