import Hummingbird
import HummingbirdCore
package import LayoverCore
import LayoverEngine
package import Logging
import NIOCore
import ServiceLifecycle
import Synchronization

#if canImport(Glibc)
import Glibc
#endif

/// The admin port: listens and serves until it is stopped.
package struct AdminService: Service {
    private let options: AdminOptions
    private let responder: AdminResponder
    private let logger: Logger
    private let onListening: @Sendable (_ port: Int) async -> Void

    /// - Parameter onListening: Called with the port once it accepts connections.
    package init(
        options: AdminOptions, sources: AdminSources, logger: Logger,
        onListening: @escaping @Sendable (_ port: Int) async -> Void = { _ in }
    ) {
        self.options = options
        // Hummingbird logs at `info` that it listens; `onListening` does that better.
        var logger = logger
        if logger.logLevel == .info { logger.logLevel = .notice }
        self.logger = logger
        self.onListening = onListening
        responder = AdminResponder(options: options, sources: sources)
    }

    /// Serves until graceful shutdown or cancellation. Event streams end at once then, other requests are
    /// let finish.
    ///
    /// - Throws: `AdminError.cannotListen` if the address is not to be had.
    package func run() async throws {
        let isListening = Flag()
        do {
            try await serve { port in
                isListening.set()
                await onListening(port)
            }
        } catch let error where !isListening.isSet && !(error is CancellationError) {
            throw AdminError.cannotListen(address: address, reason: Self.reason(of: error))
        }
    }

    private func serve(listening: @escaping @Sendable (_ port: Int) async -> Void) async throws {
        guard let path = options.socketPath else {
            return try await application(at: .hostname(options.host, port: options.port), listening: listening).run()
        }
        let folder = try PrivateSocketFolder(for: path, of: "admin.listen")
        defer { folder.remove() }
        let (failures, failed) = AsyncThrowingStream<Never, any Error>.makeStream()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for try await _ in failures {} }
            group.addTask {
                defer { failed.finish() }
                try await application(at: .unixDomainSocket(path: folder.bindPath)) { port in
                    do {
                        try folder.publish(mode: Self.socketMode)
                    } catch {
                        return failed.finish(throwing: error)
                    }
                    await listening(port)
                }.run()
            }
            try await group.waitForAll()
        }
    }

    /// Whoever can connect may command everything, as on loopback, where the token of a file is needed for bodies.
    private static let socketMode: UInt16 = 0o600

    private var address: String {
        if let path = options.socketPath { return "unix:\(path)" }
        return options.host.contains(":") ? "[\(options.host)]:\(options.port)" : "\(options.host):\(options.port)"
    }

    private func application(
        at address: BindAddress, listening: @escaping @Sendable (_ port: Int) async -> Void
    ) -> Application<AdminResponder> {
        let channel = HTTP1Channel.Configuration(
            additionalChannelHandlers: [UnreadableRequests()],
            idleTimeout: TimeAmount(options.idleMax),
            httpDecoderConfiguration: .init(
                maxHeaderFieldSize: 16 << 10, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 100))
        return Application(
            responder: responder, server: .http1(configuration: channel),
            configuration: ApplicationConfiguration(
                address: address,
                availableConnectionsDelegate: MaximumAvailableConnections(options.connectionCountMax)),
            onServerRunning: { channel in await listening(channel.localAddress?.port ?? 0) },
            logger: logger)
    }

    private static func reason(of error: any Error) -> String {
        if error is SocketAddressError.UnknownHost { return "the name of the host has no address" }
        guard let error = error as? IOError else { return "\(error)" }
        return switch error.errnoCode {
        case EADDRINUSE: "the address is already in use"
        case EADDRNOTAVAIL: "this machine does not have the address"
        case EACCES: "permission denied"
        case EEXIST: "the file exists and is not a socket"
        case ENOENT: "its folder does not exist"
        default: "\(error)"
        }
    }
}

extension AdminService: CustomStringConvertible {
    /// Only the name: ServiceLifecycle logs services, and the whole struct would fill the log.
    package var description: String { "AdminService" }
}

/// An event that happens once, visible to all threads.
private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }
    func set() { value.store(true, ordering: .releasing) }
}

/// How the admin API is served.
package struct AdminOptions: Sendable {
    /// The address to listen on; an IPv6 literal without its brackets. Default: 127.0.0.1.
    package var host = "127.0.0.1"
    /// 0 takes a free one. Default: 8081.
    package var port = 8081
    /// The path of a Unix socket to listen on instead. Only its owner can connect (0600). Default: none.
    package var socketPath: String?
    /// The token that callers must send as `Authorization: Bearer …`. Nil: callers need a token only for bodies. Default: nil.
    package var token: Secret?
    /// The token of callers that only read. Nil: there is no such token. Default: nil.
    package var viewToken: Secret?
    /// The token that callers must send to get bodies, if there is no `token`. Nil: no caller gets bodies.
    /// Default: nil.
    package var bodyToken: Secret?
    /// Hosts that a request may be addressed to, whatever its port; IPv6 literals in brackets.
    /// Default: the names of loopback.
    package var allowedHosts = ["localhost", "127.0.0.1", "[::1]"]
    /// How often an idle event stream sends a comment, so that the connection stays open. Default: 15 seconds.
    package var heartbeat: Duration = .seconds(15)
    /// Longest body of a request, in bytes. A thousand ids need 36 000. Default: 256 KiB.
    package var bodyByteCountMax = 256 << 10
    /// Most connections at a time; more wait to be accepted. Default: 512.
    package var connectionCountMax = 512
    /// How long a connection may be idle between requests or within one. Default: 60 seconds.
    package var idleMax: Duration = .seconds(60)

    package init() {}
}

/// Why the admin API could not be served.
package enum AdminError: Error, Sendable, CustomStringConvertible {
    /// The address is in use, does not belong to this machine, or is not permitted.
    case cannotListen(address: String, reason: String)

    package var description: String {
        switch self {
        case .cannotListen(let address, let reason):
            "admin.listen: cannot listen on \(address): \(reason)"
        }
    }
}
