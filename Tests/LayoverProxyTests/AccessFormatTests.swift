import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore
import Testing

@testable import LayoverProxy

/// The texts of the access log.
struct AccessFormatTests {
    @Test(arguments: [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00", true),
        // Versions to come may add to the end.
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-brings", true),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more", false),
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01.more", false),
        ("cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-a\"b", false),
        ("ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01", false),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", false),
        ("00_4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", false), ("", false), ("00", false),
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-0", false),
    ])
    func onlyAValidTraceParentIsLogged(text: String, isValid: Bool) {
        #expect((TraceParent(text) != nil) == isValid)
    }

    private func head(_ lines: String) throws -> RequestHead {
        var decoder = RequestDecoder(limits: FramingLimits())
        var bytes = ByteBuffer(string: lines + "\r\n\r\n")
        guard case .head(let head)? = try decoder.next(&bytes) else { throw FramingError(status: 400, reason: "no head") }
        return head
    }

    private func line(_ lines: String, _ format: AccessLog.Format, _ change: (AccessRecord) -> Void = { _ in }) throws -> String {
        let record = AccessRecord(try head(lines), from: "127.0.0.1", nil, isSecure: false, at: Timestamp(nanoseconds: 5_000_000_000))
        change(record)
        var writer = AccessFormat(format)
        var out = ByteBuffer()
        let end = Timestamp(nanoseconds: 7_500_000_000)
        writer.write(record, .done, now: end, wall: 1_792_745_405_042_000_000, into: &out)
        return String(buffer: out)
    }

    @Test(arguments: [
        ("GET http://a b/ HTTP/1.1\r\nX: 1\r\nUser-Agent: c/1\r\n\r\n", "GET", "http://a b/", "c/1"),
        ("\r\nGET http://me:p w@h:1@a/x?token=hush HTTP/1.1\r\nuser-agent:  c \r\n", "GET", "http://a/x?token=***", "c"),
        ("CONNECT me:hush@a:443 HTTP/1.1\r\n\r\n", "CONNECT", "a:443", nil),
        ("GET /.layover/route/x/~hush/a b HTTP/1.1\r\n", "GET", "/.layover/route/x/~***/a b", nil),
        ("GET /a?b=c@d\r\n", "GET", "/a?b=c@d", nil), ("POST / HTTP/1.1\r\nX Y\r\nUser-Agent: z", "POST", "/", "z"),
        ("POST / HTTP/1.1\r\n\r\nUser-Agent: body", "POST", "/", nil), ("\u{16}\u{3}\u{1} x", nil, nil, nil), ("GET", nil, nil, nil),
        ("GET \r\n", nil, nil, nil), ("", nil, nil, nil),
    ])
    func unreadableRequestIsLoggedAsFarAsItIsRead(text: String, method: String?, url: String?, userAgent: String?) {
        let request = UnreadableRequest(ByteBuffer(string: text))
        #expect(request.method == method && request.url == url && request.userAgent == userAgent, "\(request)")
    }

    @Test(arguments: ["/.layover/route/api/~hush/a", "/.layover/route/api/%7Ehush/a", "/.layover/route/no-route/%7ehush/a"])
    func keyOfARouteIsInNoLine(path: String) throws {
        let line = try line("GET \(path) HTTP/1.1\r\nHost: l\r\nReferer: http://l\(path)?token=hush", .json)
        #expect(!line.contains("hush") && line.contains("/~***/a"), "\(line)")
    }

    @Test(arguments: [AccessLog.Format.combined, .json]) func userinfoOfATargetIsInNoLine(format: AccessLog.Format) throws {
        let line = try line("GET http://me:hush@a.example/x HTTP/1.1\r\nHost: a.example", format)
        #expect(line.contains("http://a.example/x") && !line.contains("hush") && !line.contains("@"), "\(line)")
    }

    /// Links of mails have them in their paths.
    @Test func tokenInThePathOfARefererIsMasked() throws {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"
        let line = try line("GET /a HTTP/1.1\r\nHost: l\r\nReferer: https://b.example/confirm/\(token)/now", .json)
        #expect(!line.contains("eyJzdWIiOiIxIn0") && line.contains("https://b.example/confirm/***/now"), "\(line)")
    }

    @Test func combinedLineIsApachesAndMoreBehindIt() throws {
        let line = try line("GET http://a.example/x?token=secret HTTP/1.1\r\nHost: a.example\r\nReferer: http://b/\r\nUser-Agent: c\"u\\rl", .combined) {
            $0.status = 200
            $0.source = .origin
            $0.sentByteCount = 42
            $0.receivedByteCount = 7
            $0.attemptCount = 3
            $0.isParked = true
            $0.attemptedAt = Timestamp(nanoseconds: 7_000_000_000)
            $0.respondedAt = Timestamp(nanoseconds: 7_250_000_000)
        }
        #expect(
            line
                == #"127.0.0.1 - - [23/Oct/2026:08:50:05 +0000] "GET http://a.example/x?token=*** HTTP/1.1" 200 42 "http://b/" "c\"u\\rl" "#
                + "received=7 attempts=3 resumed=0 waited=2.000000 seconds=2.500000 upstream=0.500000 upstreamHead=0.250000 evidence=- failure=- "
                + "source=origin outcome=done entry=- traceparent=-\n")
    }

    @Test func jsonLineHasEveryMember() throws {
        let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        let line = try line("GET /only/path HTTP/1.0\r\nHost: a.example\r\nUser-Agent: \u{E9}\u{80}\r\ntraceparent: \(trace)", .json)
        #expect(
            line
                == #"{"time":"2026-10-23T08:50:05.042Z","client":"127.0.0.1","user":null,"method":"GET","url":"http://a.example/only/path","#
                + #""protocol":"HTTP/1.0","status":null,"received":0,"sent":0,"attempts":0,"resumed":0,"waited":0.000000,"seconds":2.500000,"#
                + #""upstream":null,"upstreamHead":null,"evidence":null,"failure":null,"source":null,"outcome":"done","entry":null,"#
                + #""traceparent":"\#(trace)","userAgent":"é\u0080","referer":null}"# + "\n")
    }

    @Test func addressOfATicketIsASecret() throws {
        let id = "0123456789abcdef0123456789abcdef"
        for target in ["/.layover/tickets/\(id)", "http://127.0.0.1:8080/.layover/tickets/\(id)/response"] {
            let line = try line("GET \(target) HTTP/1.1\r\nHost: 127.0.0.1:8080", .combined)
            #expect(!line.contains(id) && line.contains("http://127.0.0.1:8080/.layover/tickets/***"), "\(line)")
        }
    }
}
