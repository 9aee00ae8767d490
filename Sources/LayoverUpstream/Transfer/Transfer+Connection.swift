import CCurl
import Glibc
import LayoverEngine
import Synchronization

extension Transfer {
    // MARK: Opening

    /// OPENSOCKETFUNCTION: makes the socket of one connect, unless the address is refused.
    func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let request = attempt?.request else { return CURL_SOCKET_BAD }
        guard let (host, port) = Self.numeric(address) else { return CURL_SOCKET_BAD }
        if let kind = loop.options.addressGuard.refusal(
            of: host, port: port, allow: request.allowAddresses)
        {
            // libcurl will only say that it could not connect, which would look like an outage.
            abortCause = .addressRefused(kind)
            return CURL_SOCKET_BAD
        }
        let descriptor = socket(
            address.pointee.family, address.pointee.socktype | CInt(SOCK_CLOEXEC.rawValue),
            address.pointee.protocol)
        guard descriptor >= 0 else {
            socketError = errno
            return CURL_SOCKET_BAD
        }
        Self.setUp(descriptor, deadPeer: request.timeouts.deadPeer)
        openedSockets.append(descriptor)
        attempt?.connectingBegan()
        var entry = SocketTable.Entry()
        entry.isConnection = true
        entry.generation = generation
        entry.user = serial
        loop.poller.sockets[descriptor] = entry
        loop.poller.sockets.opened(descriptor, to: request.peer)
        loop.poller.sockets.note(exceptions: request.allowAddresses, of: descriptor)
        return descriptor
    }

    private static func setUp(_ descriptor: CInt, deadPeer: Duration) {
        set(descriptor, SOL_SOCKET, SO_KEEPALIVE, 1)
        // Probes of an idle peer (Linux's default is after two hours). While data waits for an acknowledgement the kernel sends none:
        // `PeerSilence`.
        let limit = max(1, Int(deadPeer.nanoseconds / 1_000_000_000))
        let idle = min(60, max(1, limit / 2))
        set(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, CInt(idle))
        set(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, CInt(clamping: max(1, (limit - idle + probeCount - 1) / probeCount)))
        set(descriptor, IPPROTO_TCP, TCP_KEEPCNT, CInt(probeCount))
    }

    /// Probes without an answer that prove that an idle peer is gone.
    private static let probeCount = 4

    private static func set(_ descriptor: CInt, _ level: some BinaryInteger, _ name: CInt, _ value: CInt) {
        var value = value
        // A socket without the option works too.
        setsockopt(descriptor, CInt(level), name, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// The address as text without a zone, and its port.
    private static func numeric(
        _ address: UnsafeMutablePointer<curl_sockaddr>
    ) -> (host: String, port: Int)? {
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 16
        let socketAddress = UnsafeRawPointer(address).advanced(by: offset)
            .assumingMemoryBound(to: sockaddr.self)
        var host = [CChar](repeating: 0, count: 64)
        var port = [CChar](repeating: 0, count: 8)
        let result = getnameinfo(
            socketAddress, socklen_t(address.pointee.addrlen), &host, socklen_t(host.count), &port,
            socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
        guard result == 0 else { return nil }
        let end = host.firstIndex { $0 == 0 || $0 == CChar(UInt8(ascii: "%")) } ?? host.count
        let text = String(decoding: host[..<end].lazy.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let digits = port.prefix { $0 != 0 }.lazy.map { UInt8(bitPattern: $0) }
        return (text, Int(String(decoding: digits, as: UTF8.self)) ?? 0)
    }

    // MARK: Sending begins

    /// PREREQFUNCTION: the connection is open. If this returns true, the first byte of the request is sent.
    ///
    /// Every sending passes here, including those that libcurl repeats by itself. So sendings are counted here, and a second sending that
    /// is not allowed is stopped here.
    func sendingBegins(on key: ConnectionKey, localPort: CInt, remote: RemoteEnd) -> Bool {
        guard let attempt else { return false }
        if isDial { return true }
        let isReused = noteConnection(key, localPort: localPort)
        if sending.count > 0 {
            guard receiving.framing == nil else { return stop(.answeredAlready) }
            guard !sending.isRefused else { return stop(.streamRefused) }
            guard attempt.request.mayBeSentTwice else { return stop(.secondSending) }
            openReader()
        }
        if isReused, !isQuiet || !mayReach(remote) { return stop(.connectionSpoilt) }
        if let permit = attempt.permit, !PermitWait.isGranted(permit) { return stop(.notMarked) }
        // A refused address among several was not the last word.
        abortCause = nil
        if sending.count == 0 { sending.connectByteCount = sentByteCount }
        sending.count += 1
        sending.wasOnReusedConnection = sending.wasOnReusedConnection || isReused
        sending.turn = loop.turn
        sending.lastAt = loop.now
        sending.peerCheckAt = loop.now + PeerSilence.interval(limit: attempt.request.timeouts.deadPeer).nanoseconds
        attempt.hasBegunSending.store(true, ordering: .releasing)
        loop.noteDeadline(deadline)
        return true
    }

    private func stop(_ cause: AbortCause) -> Bool {
        abortCause = cause
        return false
    }

    /// Finds out which connection it is.
    ///
    /// - Returns: Whether it carried an earlier request.
    private func noteConnection(_ key: ConnectionKey, localPort: CInt) -> Bool {
        var made = 0
        layover_get_long(easy, CURLINFO_NUM_CONNECTS, &made)
        let isReused = made == sending.connectionCount
        sending.connectionCount = made
        if isReused {
            descriptor = loop.poller.sockets.descriptor(of: key) ?? -1
            loop.poller.sockets.take(descriptor, for: serial)
        } else if let opened = openedSockets.last(where: { isOpen($0, localPort: localPort) }) {
            descriptor = opened
            loop.poller.sockets.identify(opened, as: key)
        }
        return isReused
    }

    private func isOpen(_ descriptor: CInt, localPort: CInt) -> Bool {
        guard loop.poller.sockets[descriptor].isConnection else { return false }
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let result = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.baseAddress.map {
                getsockname(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length)
            } ?? -1
        }
        // The port is at the same place in sockaddr_in and sockaddr_in6.
        return result == 0 && CInt(UInt16(bigEndian: address.sin6_port)) == localPort
    }

    /// The other end of a connection, as PREREQFUNCTION tells it.
    struct RemoteEnd {
        var address: UnsafePointer<CChar>
        var port: CInt
    }

    /// Whether this request may go to the address that an earlier one connected to. If not, it is made anew on a
    /// connection of its own, where each address of the name is judged (`openSocket`).
    private func mayReach(_ remote: RemoteEnd) -> Bool {
        guard let allowed = attempt?.request.allowAddresses,
            loop.poller.sockets.mayBeBeyond(allowed, descriptor)
        else { return true }
        let address = String(cString: remote.address)
        return loop.options.addressGuard.refusal(of: address, port: Int(remote.port), allow: allowed) == nil
    }

    /// Whether nothing has arrived on the idle connection.
    ///
    /// What an origin sends there while nobody asked would become the response to this request, and an end
    /// would make libcurl send it twice. Under TLS a late session ticket or alert counts as well: what
    /// is inside cannot be seen, and a new connection is the cheaper mistake. An unknown socket is not
    /// quiet.
    ///
    /// On an HTTP/2 connection frames of its own may lie there (PING, SETTINGS), and no byte of another stream can become this response.
    private var isQuiet: Bool {
        guard descriptor >= 0 else { return false }
        if loop.poller.sockets[descriptor].isHTTP2 { return true }
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT))
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)
    }
}

extension WorkerLoop {
    /// CLOSESOCKETFUNCTION.
    func closeSocket(_ descriptor: CInt) {
        poller.forget(descriptor)
        close(descriptor)
    }
}
