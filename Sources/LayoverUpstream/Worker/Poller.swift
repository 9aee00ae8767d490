import CCurl
import Glibc

/// epoll(7) for one worker.
///
/// libcurl stops and starts watching a connection with every request. A registration stays while its connection is idle. It changes only
/// when libcurl waits for other events. So a kept-alive connection costs no system call here. If a descriptor fires for which libcurl does
/// not wait, its registration is removed, and an idle connection is shut for reading. An idle connection that only became writable stays.
final class Poller {
    private let descriptor: CInt
    private var events = [epoll_event](repeating: epoll_event(), count: 128)
    private var eventCount = 0
    /// Whether idle connections have been given up since this was last set to false.
    var hasRetired = false
    var sockets = SocketTable()
    private var lingering: LingeringSockets

    static let readable = EPOLLIN.rawValue
    static let writable = EPOLLOUT.rawValue

    /// - Parameter wake: Descriptor that only ends a wait.
    init(wake: CInt, options: UpstreamOptions) throws(UpstreamError) {
        lingering = LingeringSockets(options: options)
        sockets.idleWithoutClientMax = options.idleWithoutClientMax.nanoseconds
        descriptor = epoll_create1(CInt(EPOLL_CLOEXEC))
        var event = epoll_event(
            events: EPOLLIN.rawValue | EPOLLET.rawValue, data: epoll_data_t(fd: wake))
        guard descriptor >= 0, epoll_ctl(descriptor, EPOLL_CTL_ADD, wake, &event) == 0 else {
            let code = errno
            if descriptor >= 0 { close(descriptor) }
            throw UpstreamError(
                code: .outOfResources, context: "Cannot create an epoll descriptor.", osError: code)
        }
        sockets[wake].registered = event.events
    }

    deinit { close(descriptor) }

    /// Says what libcurl waits for; `wanted` is 0 when for nothing.
    func watch(_ socket: CInt, for wanted: UInt32, in generation: MultiGeneration) {
        var entry = sockets[socket]
        entry.generation = generation
        entry.wanted = wanted
        if wanted != 0, wanted != entry.registered {
            control(entry.registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, wanted)
            entry.registered = wanted
        } else if wanted == 0, !entry.isConnection {
            // A descriptor of libcurl's own, which it closes without telling.
            if entry.registered != 0 { control(EPOLL_CTL_DEL, socket, 0) }
            entry = SocketTable.Entry()
        }
        sockets[socket] = entry
    }

    /// libcurl needs a socket no more.
    func drop(_ socket: CInt, at now: UInt64) {
        guard sockets[socket].mayBeUnread else { return end(socket) }
        control(sockets[socket].registered == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, socket, Self.readable)
        sockets.linger(socket, registered: Self.readable)
        if let over = lingering.add(socket, at: now) { end(over) }
    }

    /// When `endLingering` is to be called. Nil: nothing lingers.
    var lingerEndsAt: UInt64? { lingering.endsAt }

    /// Closes the lingering sockets whose time is over; with `.max`, all.
    func endLingering(at now: UInt64) {
        for socket in lingering.takeThoseDue(at: now) { end(socket) }
    }

    /// Closes a socket. That alone would not end the registration if the socket had been duplicated (epoll(7), questions and answers, 6).
    private func end(_ socket: CInt) {
        if sockets[socket].registered != 0 { control(EPOLL_CTL_DEL, socket, 0) }
        sockets.remove(socket)
        close(socket)
    }

    /// Waits for events.
    ///
    /// - Parameter milliseconds: -1 waits without limit.
    func wait(milliseconds: CInt) {
        eventCount = max(0, Int(epoll_wait(descriptor, &events, CInt(events.count), milliseconds)))
    }

    /// Reports those of the events that libcurl wants.
    func report(to act: (CInt, UInt32, MultiGeneration) -> Void) {
        for index in 0..<eventCount {
            let socket = events[index].data.fd
            let entry = sockets[socket]
            if entry.isLingering, lingering.read(socket) { end(socket) }
            guard let generation = entry.generation else { continue }
            let happened = events[index].events
            if entry.wanted == 0 {
                fired(socket, entry, happened)
                continue
            }
            let useful = useful(happened, entry, at: socket)
            if useful != 0 { act(socket, useful, generation) }
        }
    }

    /// Most reports in a row that do not tell libcurl that a connection is writable, because it has something to read. Default: 16.
    private static let withheldWritesMax = 16

    /// The events of which libcurl is told. It ends a transfer at a failed send and drops what it has not read by then, such as the
    /// response of an origin that refuses a body and closes. So it reads first, unless an endless response would keep it from sending.
    private func useful(_ happened: UInt32, _ entry: SocketTable.Entry, at socket: CInt) -> UInt32 {
        let wantsBoth = entry.wanted == Self.readable | Self.writable
        // Errors and hang-ups are found out by the read or write that libcurl waits to make.
        if happened & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { return wantsBoth ? Self.readable : entry.wanted }
        let useful = happened & entry.wanted
        guard wantsBoth, useful & Self.writable != 0, entry.isConnection else { return useful }
        guard useful & Self.readable != 0 || hasInput(socket) else {
            if entry.withheldWriteCount > 0 { sockets[socket].withheldWriteCount = 0 }
            return useful
        }
        let isOver = entry.withheldWriteCount >= Self.withheldWritesMax
        sockets[socket].withheldWriteCount = isOver ? 0 : entry.withheldWriteCount + 1
        return isOver ? entry.wanted : Self.readable
    }

    /// Whether bytes have come since the wait.
    private func hasInput(_ socket: CInt) -> Bool {
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, CInt(MSG_PEEK) | CInt(MSG_DONTWAIT)) > 0
    }

    /// Something happened that libcurl does not wait for.
    private func fired(_ socket: CInt, _ entry: SocketTable.Entry, _ happened: UInt32) {
        if entry.isIdle, happened & ~Self.writable == 0 {
            // The connection only became writable, and libcurl does not wait for that. It stays registered, so that its end is noticed.
            control(EPOLL_CTL_MOD, socket, Self.readable)
            sockets[socket].registered = Self.readable
            return
        }
        control(EPOLL_CTL_DEL, socket, 0)
        sockets[socket].registered = 0
        if entry.isIdle { retire(socket) }
    }

    /// No request may be sent on this idle connection: it has ended, it has bytes that no request asked for, or its client has left.
    /// libcurl counts a connection as alive while there is something to read, even if that is only the close_notify of TLS. So the bytes
    /// are read and dropped here, and SHUT_RD lets libcurl see the end behind them. The sending direction stays open for our own
    /// close_notify.
    func retire(_ socket: CInt) {
        hasRetired = true
        shutdown(socket, CInt(SHUT_RD))
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { bytes in
            // At most 64 KiB, more than a close_notify needs. If the origin sends more, its connection is closed because of its age.
            for _ in 0..<16 where recv(socket, bytes.baseAddress, bytes.count, CInt(MSG_DONTWAIT)) <= 0 { return }
        }
    }

    private func control(_ operation: CInt, _ socket: CInt, _ events: UInt32) {
        var event = epoll_event(events: events, data: epoll_data_t(fd: socket))
        if epoll_ctl(descriptor, operation, socket, &event) != 0, errno == EEXIST {
            epoll_ctl(descriptor, EPOLL_CTL_MOD, socket, &event)
        }
    }
}

/// Nanoseconds of CLOCK_MONOTONIC, the clock that libcurl's timers run on.
enum MonotonicClock {
    static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}

extension Duration {
    /// Whole nanoseconds; negative durations are 0.
    var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard seconds >= 0, attoseconds >= 0 else { return 0 }
        return UInt64(min(seconds, 1 << 32)) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }

    /// Milliseconds for libcurl and the kernel, where 0 would mean "default" or "never": at least 1.
    var millisecondsAtLeastOne: Int {
        max(1, Int(min(nanoseconds / 1_000_000, UInt64(Int32.max))))
    }
}
