import Foundation
import LayoverTLS
import LayoverTestSupport
import NIOCore
import NIOPosix

/// A TLS server on loopback that answers each piece of plaintext with an HTTP response that names the protocol.
final class ServingRig: Sendable {
    let folder: TemporaryFolder
    let authority: CertificateAuthority
    let leaves: LeafCertificates
    let events = Watched<[String]>([])
    private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    private let threads = NIOThreadPool(numberOfThreads: 1)
    private let channel = Watched<(any Channel)?>(nil)

    var caFile: String { folder.file("tls/ca.pem").path }
    var port: Int { channel.value?.localAddress?.port ?? 0 }

    init(supportsHTTP2: Bool = true) async throws {
        folder = try TemporaryFolder()
        authority = try CertificateAuthority.loadOrMake(folder: folder.file("tls").path, now: time(nil))
        threads.start()
        leaves = try LeafCertificates(authority: authority, threads: threads, supportsHTTP2: supportsHTTP2)
        let bound = try await ServerBootstrap(group: group)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { [leaves, events] channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = TLSServerHandler { hello in
                        leaves.context(for: hello.serverName ?? "127.0.0.1", on: channel.eventLoop)
                    }
                    try channel.pipeline.syncOperations.addHandlers([handler, AnsweringHandler(events)])
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        channel.update { $0 = bound }
    }

    deinit {
        group.shutdownGracefully { _ in }
        threads.shutdownGracefully { _ in }
    }
}

private final class AnsweringHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let events: Watched<[String]>
    private var body = "none"

    init(_ events: Watched<[String]>) { self.events = events }

    private func note(_ text: String) { events.update { $0.append(text) } }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSEstablished {
            body = "\(event.applicationProtocol ?? "none") \(event.serverName ?? "none") \(event.isResumed ? "resumed" : "new")"
            note(body)
            context.read()
        } else if case ChannelEvent.inputClosed = event {
            note("input closed")
            context.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) { context.read() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let rejection = (error as? TLSError)?.rejection.map { "\($0)" } ?? "none"
        note("error \(error), rejection \(rejection)")
    }
}

/// The bytes that a session has for its peer.
func outgoing(of session: TLSSession) -> ByteBuffer {
    var bytes = ByteBuffer()
    session.takeOutgoing(into: &bytes)
    return bytes
}
