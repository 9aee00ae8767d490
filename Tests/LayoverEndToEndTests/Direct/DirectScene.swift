import Foundation
import Glibc
import LayoverTestSupport

/// A client and an origin that are connected without a proxy and by Layover. Both must see the same.
struct DirectScene: Sendable, CustomStringConvertible {
    /// A line of the log that is another one by Layover.
    struct Difference: Sendable {
        var direct: String
        var byLayover: String
        var reason: String
        /// The path on which it is so (`proxy.upstream`); nil: on both.
        var path: DirectPath?
    }

    var name: String
    var client: @Sendable (DirectClient) throws -> Void = { _ in }
    /// A program in place of `client`, whose output is noted.
    var program: (@Sendable (_ port: Int, _ prefix: String) -> Command)?
    var origin: @Sendable (OriginConnection, DirectLog) -> Void
    var differences: [Difference] = []
    /// How often it is played: more often where it is a race.
    var count = 1
    /// On which paths it is played.
    var paths = DirectPath.allCases
    /// By which ways it is played.
    var ways = DirectWay.allCases
    /// True if the client pauses for longer than `timeouts.clientIdle`, which is `clientIdle` for this scene alone: a client of another
    /// one may take longer between two requests on a busy machine.
    var outlastsClientIdle = false

    static let clientIdle = "4s"
    /// Seconds of a pause that is longer than `clientIdle`.
    static let longPause = 6.0

    var description: String { name }

    /// A pause that is part of a scene, of a client or of an origin. Nothing is waited for.
    static func pause(_ seconds: Double) { _ = poll(nil, 0, Int32(seconds * 1000)) }
}

/// By which transfers Layover reaches the origin (`proxy.upstream`).
enum DirectPath: String, Sendable, CaseIterable {
    case layover, libcurl
}

extension OriginConnection {
    /// Reads a request and notes it. Chunks are put together.
    ///
    /// - Returns: Its head; nil when the client ends before it is whole.
    func noteRequest(in log: DirectLog) -> String? {
        guard let head = readHead() else { return nil }
        log.note(.origin, "head \(DirectLog.essence(head))")
        return noteBody(of: head, in: log) ? head : nil
    }

    /// Reads the body of a request whose head was read, and notes it.
    @discardableResult
    func noteBody(of head: String, in log: DirectLog, whenRead: (Int) -> Void = { _ in }) -> Bool {
        let lines = head.lowercased().split(separator: "\r\n")
        var body: [UInt8]? = []
        if lines.contains("transfer-encoding: chunked") {
            body = readAllChunks(whenRead)
        } else if let length = lines.first(where: { $0.hasPrefix("content-length: ") }).flatMap({ Int($0.dropFirst(16)) }) {
            while let part = body, part.count < length {
                body = read(min(64 << 10, length - part.count)).map { part + $0 }
                whenRead(part.count)
            }
        }
        log.note(.origin, body.map { "body \(DirectLog.essence($0))" } ?? "body incomplete")
        return body != nil
    }

    private func readAllChunks(_ whenRead: (Int) -> Void) -> [UInt8]? {
        var body: [UInt8] = []
        while let size = readLine().flatMap({ Int($0, radix: 16) }) {
            // Lines behind the last chunk are trailers.
            if size == 0 { return readTrailers().map { body + $0 } }
            guard let bytes = read(size + 2) else { return nil }
            body += bytes.dropLast(2)
            whenRead(body.count)
        }
        return nil
    }

    private func readTrailers() -> [UInt8]? {
        var trailers: [UInt8] = []
        while let line = readLine() {
            if line.isEmpty { return trailers }
            trailers += Array(line.utf8)
        }
        return nil
    }
}
