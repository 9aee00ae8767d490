import CCurl
import Dispatch
import Glibc
import LayoverEngine
import NIOCore
import Synchronization

extension Transfer {
    // MARK: Opening

    /// RESOLVER_START_FUNCTION: libcurl has no addresses for the host of a new connection.
    ///
    /// It must not look for them itself, except that it reads literals here, too.
    func mayResolve() -> Bool {
        if case .literal = easyOptions.hostName { return true }
        resolving.missCount += 1
        abortCause = .nameMissing
        return false
    }

    /// OPENSOCKETFUNCTION: makes the socket of one connect, unless the address is refused.
    func openSocket(to address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        guard let request = attempt?.request else { return CURL_SOCKET_BAD }
        guard let (host, port) = OriginSocket.numeric(address) else { return CURL_SOCKET_BAD }
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
        OriginSocket.setUp(descriptor, deadPeer: request.timeouts.deadPeer)
        openedSockets.append(descriptor)
        attempt?.connectingBegan()
        var entry = SocketTable.Entry()
        entry.isConnection = true
        entry.generation = generation
        entry.user = serial
        loop.poller.sockets[descriptor] = entry
        loop.poller.sockets.opened(descriptor, to: request.peer, at: host, for: attempt?.presentClient)
        loop.poller.sockets.note(exceptions: request.allowAddresses, of: descriptor)
        return descriptor
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
            loop.poller.sockets.take(descriptor, for: serial, of: attempt?.presentClient)
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

extension Transfer {
    /// Opens the body at its start; also before libcurl sends it again, when an unknown part of it may
    /// lie in libcurl's buffer.
    func openReader() {
        guard let request = attempt?.request, let body = request.body else { return }
        sending.reader?.close()
        sending.isPaused = false
        sending.wantsResume = false
        sending.awaitsContinue = request.expectsContinue
        attempt?.bodyBytesSent.store(0, ordering: .relaxed)
        attempt?.isBodyHandedOver.store(false, ordering: .relaxed)
        sending.continueAt = nil
        let mailbox = loop.mailbox
        let (slot, serial) = (slot, serial)
        sending.reader = FramedBodyReader(body, framing: request.framing, framesChunks: !request.supportsHTTP2) {
            _ = mailbox.post(.resumeSending(slot: slot, serial: serial))
        }
    }

    /// READFUNCTION: the next bytes of the body, chunked ones with their framing.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let reader = sending.reader else { return Int(CURL_READFUNC_ABORT) }
        sentPiece()
        if reader.isComplete || sending.isStopped { return 0 }
        if sending.awaitsContinue { return waitForContinue() }
        switch sending.reader?.read(into: buffer) ?? .brokenOff {
        case .bytes(let count):
            sending.lastAt = loop.now
            noteHandedOver(count)
            return count
        case .wait:
            waitForBody()
            return Int(CURL_READFUNC_PAUSE)
        case .end:
            attempt?.isBodyHandedOver.store(true, ordering: .relaxed)
            return 0
        case .brokenOff:
            // The second time it may only be that the start was not kept.
            abortCause = sending.count > 1 ? .secondSending : .bodyBrokenOff
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// For people who are shown an attempt under way.
    private func noteHandedOver(_ count: Int) {
        attempt?.bodyBytesSent.add(Int64(count), ordering: .relaxed)
        if sending.reader?.isComplete == true { attempt?.isBodyHandedOver.store(true, ordering: .relaxed) }
    }

    /// RFC 9110 section 10.1.1: a client that waits for a 100 must not wait for ever.
    private func waitForContinue() -> Int {
        sending.isPaused = true
        if sending.continueAt == nil {
            sending.continueAt = loop.now + loop.options.continueWaitMax.nanoseconds
            loop.noteDeadline(deadline)
        }
        return Int(CURL_READFUNC_PAUSE)
    }

    /// Ends the wait for 100 (Continue): a 100 or the final head has come, or `continueWaitMax` has passed. A paused sending goes on at the
    /// end of the turn, even if the body is not sent any more: libcurl 7.88.1 never ends a paused transfer.
    func stopAwaitingContinue() {
        sending.awaitsContinue = false
        sending.continueAt = nil
        guard sending.isPaused else { return }
        sending.wantsResume = true
        loop.touch(self)
    }

    private func waitForBody() {
        sending.isPaused = true
        if receiving.isWithheld { loop.noteDeadline(deadline) }
        guard let attempt, attempt.request.expectsContinue, !sending.hasWantedBody else { return }
        sending.hasWantedBody = true
        loop.outbox.add(.bodyWanted, of: attempt)
    }

    /// Goes on sending after a pause: the body may have more.
    func resumeSending() {
        guard sending.isPaused, !sending.awaitsContinue, attempt != nil else { return }
        sending.isPaused = false
        sending.wantsResume = false
        sending.lastAt = loop.now
        curl_easy_pause(easy, receiving.isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
        loop.noteDeadline(deadline)
    }
}

/// Blocks a worker's thread until it is known whether the first byte may leave: libcurl wants to know it at once (PREREQFUNCTION).
final class PermitWait: Sendable {
    private let isAnswered = DispatchSemaphore(value: 0)
    private let answer = Atomic<Bool>(false)

    private init() {}

    static func isGranted(_ permit: SendingPermit) -> Bool {
        let wait = PermitWait()
        permit { isGranted in
            wait.answer.store(isGranted, ordering: .releasing)
            wait.isAnswered.signal()
        }
        wait.isAnswered.wait()
        return wait.answer.load(ordering: .acquiring)
    }
}
