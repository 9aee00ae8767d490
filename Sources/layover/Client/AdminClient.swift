import Foundation
import LayoverCore
import NIOCore
import NIOHTTP1
import NIOPosix

/// Client of the admin API: one connection for each call, to the given address only. No proxy
/// variables, no redirects: the command line must reach Layover whatever the environment has.
struct AdminClient: Sendable {
    typealias Body = NIOAsyncChannelInboundStream<HTTPClientResponsePart>.AsyncIterator
    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    let address: AdminAddress
    let token: Secret?
    /// Longest wait for a connection. Default: 5 seconds.
    var connectMax = Duration.seconds(5)
    /// Longest silence. The event stream speaks every 15 seconds. Default: 60 seconds.
    var silenceMax = Duration.seconds(60)

    init(address: AdminAddress, token: Secret?) {
        self.address = address
        self.token = token
    }

    /// Makes a call and reads its response, whatever its status.
    func response(to call: AdminCall) async throws(CommandFailure) -> AdminResponse {
        try await withResponse(to: call) { status, body in
            var data = Data()
            while case .body(let bytes)? = try await body.next() {
                data.append(contentsOf: bytes.readableBytesView)
            }
            return AdminResponse(status: status, body: data)
        }
    }

    /// Makes a call that must succeed.
    func send(_ call: AdminCall) async throws(CommandFailure) -> AdminResponse {
        let response = try await response(to: call)
        guard response.status < 300 else { throw call.failure(response) }
        return response
    }

    /// Makes a call that must succeed, and yields the bytes of its response as they come.
    func bytes(of call: AdminCall, _ take: (ByteBufferView) throws -> Void) async throws(CommandFailure) {
        try await withResponse(to: call) { status, body in
            var refusal = Data()
            while case .body(let bytes)? = try await body.next() {
                if status < 300 { try take(bytes.readableBytesView) } else { refusal.append(contentsOf: bytes.readableBytesView) }
            }
            if status >= 300 { throw AdminResponse(status: status, body: refusal).failure }
        }
    }

    /// Makes a call that must succeed, and yields each line as it comes, without its end.
    func lines(
        of call: AdminCall, _ take: (String) async throws -> Void
    ) async throws(CommandFailure) {
        try await withResponse(to: call) { status, body in
            guard status < 300 else {
                var data = Data()
                while case .body(let bytes)? = try await body.next() {
                    data.append(contentsOf: bytes.readableBytesView)
                }
                throw AdminResponse(status: status, body: data).failure
            }
            var rest: [UInt8] = []
            while case .body(let bytes)? = try await body.next() {
                rest += bytes.readableBytesView
                var lines = rest.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
                rest = Array(lines.popLast() ?? [])
                for line in lines { try await take(String(decoding: line, as: UTF8.self)) }
            }
            if !rest.isEmpty { try await take(String(decoding: rest, as: UTF8.self)) }
        }
    }

    // MARK: The exchange

    private func withResponse<Value: Sendable>(
        to call: AdminCall, _ read: (_ status: Int, inout Body) async throws -> Value
    ) async throws(CommandFailure) -> Value {
        // A server may close the connection right after its response, before this does.
        var response: Value?
        do {
            try await connect().executeThenClose { inbound, outbound in
                try await outbound.write(contentsOf: parts(of: call))
                var parts = inbound.makeAsyncIterator()
                guard case .head(let head)? = try await parts.next() else {
                    throw failure("the connection was closed without a response")
                }
                response = try await read(Int(head.status.code), &parts)
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            guard response != nil else { throw failure(Self.reason(of: error)) }
        }
        guard let response else { throw failure("the connection was closed without a response") }
        return response
    }

    private func parts(of call: AdminCall) -> [HTTPClientRequestPart] {
        let body = call.body.map { HTTPClientRequestPart.body(.byteBuffer(ByteBuffer(bytes: $0))) }
        return [.head(head(of: call))] + (body.map { [$0] } ?? []) + [.end(nil)]
    }

    private func connect() async throws -> Connection {
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(TimeAmount(connectMax))
        guard let path = address.socketPath else {
            return try await bootstrap.connect(host: address.host, port: address.port) { setUp($0) }
        }
        return try await bootstrap.connect(unixDomainSocketPath: path) { setUp($0) }
    }

    private func setUp(_ channel: any Channel) -> EventLoopFuture<Connection> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(IdleStateHandler(readTimeout: TimeAmount(silenceMax)))
            try pipeline.addHTTPClientHandlers()
            try pipeline.addHandler(SilenceHandler())
            return try Connection(wrappingChannelSynchronously: channel)
        }
    }

    private func head(of call: AdminCall) -> HTTPRequestHead {
        var fields = HTTPHeaders([
            ("Host", address.authority), ("Accept", call.accept), ("Connection", "close"),
        ])
        if let token { fields.add(name: "Authorization", value: "Bearer \(token.revealed)") }
        if let revision = call.revision { fields.add(name: "If-Match", value: "\"\(revision)\"") }
        if let body = call.body {
            fields.add(name: "Content-Type", value: "application/json")
            fields.add(name: "Content-Length", value: "\(body.count)")
        }
        return HTTPRequestHead(
            version: .http1_1, method: HTTPMethod(rawValue: call.method), uri: address.prefix + call.path,
            headers: fields)
    }

    private func failure(_ reason: String) -> CommandFailure {
        CommandFailure(
            code: .unreachable,
            message: "cannot reach Layover at \(address): \(reason); start it with layover run, or give its address with --admin-url")
    }

    private static func reason(of error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            error.connectionErrors.first.map { reason(of: $0.error) } ?? "the host name \(error.host) cannot be resolved"
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case ChannelError.connectTimeout: "the connection timed out"
        case is HTTPParserError: "the response is not HTTP"
        default: "\(error)"
        }
    }
}

/// Closes the connection when the peer sends nothing for too long.
private final class SilenceHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard event is IdleStateHandler.IdleStateEvent else {
            return context.fireUserInboundEventTriggered(event)
        }
        context.fireErrorCaught(ChannelError.connectTimeout(.zero))
        context.close(promise: nil)
    }
}

/// Puts the lines of an event stream together (WHATWG HTML, section Server-sent events), as far as Layover
/// writes them.
struct EventReader {
    /// One event of the stream.
    struct Event: Sendable, Equatable {
        var id = ""
        var name = "message"
        var data = ""
    }

    private var event = Event()
    private var hasData = false

    /// Takes a line and returns the event that ends with it.
    mutating func take(_ line: String) -> Event? {
        guard !line.isEmpty else {
            defer { (event, hasData) = (Event(), false) }
            return hasData ? event : nil
        }
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1].hasPrefix(" ") ? parts[1].dropFirst() : parts[1]) : ""
        switch parts[0] {
        case "id": event.id = value
        case "event": event.name = value
        case "data":
            event.data += hasData ? "\n" + value : value
            hasData = true
        default: break
        }
        return nil
    }
}
