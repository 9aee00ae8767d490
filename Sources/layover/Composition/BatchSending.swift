import Foundation
import LayoverAdmin
import LayoverProxy
import NIOCore
import NIOHTTP1
import NIOPosix

/// Sends the requests of batches through the proxy, as any client does: the same policies and guards are in force.
struct BatchSending: Sendable {
    /// Bytes of a response body that are taken. Default: 4 MiB.
    private static let bodyByteCountMax = 4 << 20

    private typealias Connection = NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>

    let server: ProxyServer

    func send(_ item: BatchItem) async -> BatchOutcome {
        do {
            return try await connect().executeThenClose { inbound, outbound in
                try await outbound.write(contentsOf: parts(of: item))
                return try await outcome(of: inbound)
            }
        } catch {
            return .problem(
                AdminProblem(
                    502, "proxy_unreachable", title: "Proxy unreachable",
                    detail: "The connection to the proxy port was lost before the response was complete: \(error)."))
        }
    }

    private func connect() async throws -> Connection {
        let socket = try await server.connect()
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).withConnectedSocket(socket) { channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHTTPClientHandlers()
                return try Connection(wrappingChannelSynchronously: channel)
            }
        }
    }

    private func parts(of item: BatchItem) -> [HTTPClientRequestPart] {
        let authority = item.url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        // Userinfo is no part of Host (RFC 9110 section 7.2).
        let host = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? authority
        var fields = HTTPHeaders([("Host", String(host)), ("Connection", "close")])
        for (name, value) in item.fields { fields.add(name: name, value: value) }
        if let body = item.body { fields.add(name: "Content-Length", value: "\(body.readableBytes)") }
        let head = HTTPRequestHead(version: .http1_1, method: HTTPMethod(rawValue: item.method), uri: item.url, headers: fields)
        return [.head(head)] + (item.body.map { [.body(.byteBuffer($0))] } ?? []) + [.end(nil)]
    }

    private func outcome(of inbound: NIOAsyncChannelInboundStream<HTTPClientResponsePart>) async throws -> BatchOutcome {
        var status = 0
        var fields: [(name: String, value: String)] = []
        var body = ByteBuffer()
        for try await part in inbound {
            switch part {
            case .head(let head):
                status = Int(head.status.code)
                fields = head.headers.map { ($0.name, $0.value) }
            case .body(var bytes):
                guard body.readableBytes + bytes.readableBytes <= Self.bodyByteCountMax else { return .problem(.tooLong(status)) }
                body.writeBuffer(&bytes)
            case .end: return .response(status: status, fields: fields, body: body)
            }
        }
        return .problem(.brokenOff(status))
    }
}

extension AdminProblem {
    fileprivate static func tooLong(_ status: Int) -> AdminProblem {
        AdminProblem(
            502, "limit", title: "Response too long",
            detail: "The response had the status \(status), and a body that is longer than 4 MiB; it cannot be part of a batch.")
    }

    fileprivate static func brokenOff(_ status: Int) -> AdminProblem {
        AdminProblem(
            502, "response_broke_off", title: "Response broke off",
            detail: status == 0 ? "The connection was closed without a response." : "The response with the status \(status) broke off.")
    }
}
