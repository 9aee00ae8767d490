import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

@testable import LayoverCache

/// 2026-01-01 00:00:00 UTC, in seconds since 1970.
let newYear = 1_767_225_600

extension CacheRequest {
    /// - Parameter fields: `Name: value`.
    static func to(
        _ target: String = "/a", method: String = "GET", host: String = "example.com", scheme: Origin.Scheme = .https,
        _ fields: [String] = [], hasBody: Bool = false
    ) -> CacheRequest {
        CacheRequest(
            origin: Origin(scheme: scheme, host: host), method: method, target: target, fields: RequestFields(fields), hasBody: hasBody)
    }
}

extension ResponseHead {
    /// A head as the upstream makes it. With a length unless the fields say otherwise.
    static func made(_ status: Int = 200, _ fields: [String] = [], length: Int? = 5, isHead: Bool = false) -> ResponseHead {
        var assembler = ResponseHeadAssembler()
        assembler.reset(isHeadRequest: isHead)
        var lines = ["HTTP/1.1 \(status) Word"] + fields
        if let length, status != 204, status != 304 { lines.append("Content-Length: \(length)") }
        for line in lines + [""] {
            let bytes = Array((line + "\r\n").utf8)
            if let head = bytes.withUnsafeBytes({ try! assembler.take(line: $0) }) { return head }
        }
        fatalError("no head")
    }

    func text(_ name: String) -> String? { MessageFields(responseHead: bytes).text(name) }
}

extension ResponseFacts {
    static func made(_ status: Int = 200, _ fields: [String] = []) -> ResponseFacts {
        ResponseFacts(ResponseHead.made(status, fields, length: nil))
    }
}

extension RequestFacts {
    static func made(_ fields: [String] = [], method: String = "GET") -> RequestFacts {
        RequestFacts(.to(method: method, fields))
    }
}

extension CacheTimes {
    static func at(_ seconds: Int) -> CacheTimes { CacheTimes(requestedAt: seconds, answeredAt: seconds) }
}
