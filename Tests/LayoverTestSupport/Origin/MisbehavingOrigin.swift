import Glibc
import Synchronization

/// A server of raw sockets that does exactly what its script says, however wrong, and records every byte
/// that each connection received.
///
/// One thread accepts, one thread runs the script for each connection. Nothing waits without limit:
/// reads give up after `patience`.
package final class MisbehavingOrigin: Sendable {
    /// The behaviour on one connection. When the script returns, the connection is closed.
    package typealias Script = @Sendable (OriginConnection) -> Void

    private struct State {
        var connections: [OriginConnection] = []
        var isStopped = false
        /// The descriptor of the listener is closed, and its number may belong to another socket.
        var isClosed = false
    }

    package let port: Int
    private let listener: CInt
    private let script: Script
    private let tls: TLSSettings?
    private let state = Mutex(State())

    /// Listens on a free port of 127.0.0.1, or of ::1, or of all addresses of IPv4.
    ///
    /// - Parameter tls: With it the scripts begin behind the handshake; `received` is decrypted.
    package init(
        usingIPv6: Bool = false, onAllAddresses: Bool = false, tls: TLSSettings? = nil, script: @escaping Script
    ) throws {
        let (listener, port) = try ListeningSocket.make(usingIPv6: usingIPv6, onAllAddresses: onAllAddresses)
        self.listener = listener
        self.port = port
        self.script = script
        self.tls = tls
        OriginThreads.start { [self] in acceptAll() }
        TestServers.endWithTest { [self] in stop() }
    }

    /// An origin that answers every request with a 200, or only the first one of each connection.
    package static func answering(once: Bool = false) throws -> MisbehavingOrigin {
        try MisbehavingOrigin { connection in
            repeat {
                guard connection.readRequest() != nil else { return }
                connection.answer()
            } while !once
        }
    }

    /// An origin that writes these bytes, whatever they are, after each request, or only after the first one of each connection.
    package static func writing(_ bytes: String, once: Bool = false) throws -> MisbehavingOrigin {
        try MisbehavingOrigin { connection in
            repeat {
                guard connection.readRequest() != nil else { return }
                connection.write(bytes)
            } while !once
        }
    }

    /// An origin that reads what it is told to, says so, and never answers.
    ///
    /// - Parameter read: False: the connection ended before.
    package static func silent(
        _ arrived: Signal, after read: @escaping @Sendable (OriginConnection) -> Bool = { $0.readRequest() != nil }
    ) throws -> MisbehavingOrigin {
        try MisbehavingOrigin { connection in
            guard read(connection) else { return }
            arrived.fire()
            connection.readToEnd()
        }
    }

    /// The connections so far, in the order in which they were accepted.
    package var connections: [OriginConnection] { state.withLock { $0.connections } }

    /// All that was received, connection by connection.
    package var received: [String] { connections.map(\.receivedText) }

    /// How often `text` was received, on all connections together.
    package func count(of text: String) -> Int {
        received.reduce(0) { $0 + $1.occurrences(of: text) }
    }

    /// Accepts nothing more and ends every connection.
    package func stop() {
        let connections = state.withLock { state in
            state.isStopped = true
            // Wakes accept(2) with an error.
            if !state.isClosed { _ = shutdown(listener, CInt(SHUT_RDWR)) }
            return state.connections
        }
        for connection in connections { connection.interrupt() }
    }

    private func acceptAll() {
        while true {
            let descriptor = accept(listener, nil, nil)
            if descriptor < 0 {
                if errno == EINTR || errno == ECONNABORTED { continue }
                break
            }
            // Some tests start processes; they must not inherit the connection and keep it open.
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            let connection = state.withLock { state -> OriginConnection? in
                guard !state.isStopped else { return nil }
                let connection = OriginConnection(
                    descriptor: descriptor, number: state.connections.count + 1)
                state.connections.append(connection)
                return connection
            }
            guard let connection else {
                close(descriptor)
                break
            }
            OriginThreads.start { [script, tls] in
                if tls.map(connection.secure) ?? true { script(connection) }
                connection.close()
            }
        }
        state.withLock { state in
            state.isClosed = true
            _ = close(listener)
        }
    }
}

extension String {
    fileprivate func occurrences(of text: String) -> Int {
        var count = 0
        var rest = utf8[...]
        let wanted = Array(text.utf8)
        while rest.count >= wanted.count {
            if rest.starts(with: wanted) { count += 1 }
            rest.removeFirst()
        }
        return count
    }
}
