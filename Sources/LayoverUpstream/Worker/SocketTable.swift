import Glibc
import LayoverCore
import LayoverEngine
import LayoverText
import Synchronization

/// The worker's facts about each descriptor that libcurl uses, by descriptor number.
struct SocketTable {
    struct Entry {
        /// The multi handle that uses the descriptor. Nil: libcurl does not use it.
        unowned(unsafe) var generation: MultiGeneration?
        /// What libcurl waits for now: EPOLLIN and EPOLLOUT.
        var wanted: UInt32 = 0
        /// What epoll was told; 0 when the descriptor is not registered.
        var registered: UInt32 = 0
        /// Whether we opened it, so that we also close it and know when its number is free again.
        var isConnection = false
        /// Serial of the attempt that opened or uses the connection; 0 while it is kept for a later one.
        var user: UInt64 = 0
        var key: ConnectionKey?
        /// Reports in a row that left out that it can be written to, because there was something to read.
        var withheldWriteCount = 0
        /// Whether a response came on it as HTTP/2.
        var isHTTP2 = false
        /// Whether the other end may still read what was sent, and send frames of HTTP/2 meanwhile.
        var mayBeUnread = false
        /// Whether it is closed for sending, and libcurl has left it to `LingeringSockets`.
        var isLingering = false
        /// Whether the other end is on this machine.
        var isToLoopback = false
        /// The client of the latest attempt on it. Nil: there was none, or it has closed its connection.
        var client: Int?
        /// When it is closed if its client has left and it is idle, on `MonotonicClock`. `.max`: not yet known, or it is closed already.
        var leavesAt = UInt64.max

        /// Whether the connection is kept for a later attempt and carries none now.
        var isIdle: Bool { isConnection && user == 0 }
        /// Whether it is kept, but the client that used it last has left, and the other end may serve one connection at a time.
        var isLeft: Bool { isIdle && isToLoopback && client == nil && leavesAt != .max }
    }

    private var entries: [Entry] = []
    /// Connections that no attempt uses.
    private(set) var idleCount = 0
    private var descriptors: [ConnectionKey: CInt] = [:]
    /// The exceptions under which a connection was opened, where there were any.
    private var exceptions: [CInt: [String]] = [:]
    /// Where the connections lead.
    private var origins: [CInt: Origin] = [:]
    let open = OpenConnections()
    /// How long a connection to this machine may be idle when its client has left, in nanoseconds.
    var idleWithoutClientMax: UInt64 = 0
    /// When the next such connection has been idle for that long, on `MonotonicClock`. Nil: there is none.
    private(set) var leavingAt: UInt64?

    subscript(descriptor: CInt) -> Entry {
        get { descriptor >= 0 && descriptor < entries.count ? entries[Int(descriptor)] : Entry() }
        set {
            guard descriptor >= 0 else { return }
            while entries.count <= descriptor { entries.append(Entry()) }
            entries[Int(descriptor)] = newValue
        }
    }

    /// A connection is being made, for an attempt.
    mutating func opened(_ descriptor: CInt, to origin: Origin, at address: String, for client: Int?) {
        origins[descriptor] = origin
        open.changed(origin, by: .init(open: 1, busy: 1))
        guard NetworkAddress(address)?.isLoopback == true else { return }
        self[descriptor].isToLoopback = true
        self[descriptor].client = client
    }

    /// Remembers which connection a descriptor carries.
    mutating func identify(_ descriptor: CInt, as key: ConnectionKey) {
        self[descriptor].key = key
        descriptors[key] = descriptor
    }

    /// Remembers that a connection speaks HTTP/2, and whether it has carried a body.
    mutating func noteHTTP2(on descriptor: CInt, withBody hasBody: Bool) {
        guard descriptor >= 0, descriptor < entries.count, entries[Int(descriptor)].isConnection else { return }
        entries[Int(descriptor)].isHTTP2 = true
        if hasBody { entries[Int(descriptor)].mayBeUnread = true }
    }

    /// An attempt is cut off: the rest of its request need not be read.
    mutating func cutOff(_ descriptor: CInt, by user: UInt64) {
        guard descriptor >= 0, descriptor < entries.count, entries[Int(descriptor)].user == user else { return }
        entries[Int(descriptor)].mayBeUnread = false
    }

    /// libcurl has left a connection, which is read until its end. It counts as open.
    mutating func linger(_ descriptor: CInt, registered: UInt32) {
        if let key = self[descriptor].key, descriptors[key] == descriptor { descriptors[key] = nil }
        if self[descriptor].isIdle {
            idleCount -= 1
        } else if let origin = origins[descriptor] {
            open.changed(origin, by: .init(busy: -1))
        }
        self[descriptor] = Entry()
        self[descriptor].registered = registered
        self[descriptor].isLingering = true
    }

    func descriptor(of key: ConnectionKey) -> CInt? { descriptors[key] }

    /// Remembers which addresses were allowed beyond the usual ones when a connection was opened.
    mutating func note(exceptions allowed: [String], of descriptor: CInt) {
        if !allowed.isEmpty { exceptions[descriptor] = allowed }
    }

    /// Whether a connection was opened under exceptions that are not `allowed`, so that its address may be one
    /// that another route must not reach. Exceptions only ever add addresses: one opened without is for all.
    func mayBeBeyond(_ allowed: [String], _ descriptor: CInt) -> Bool {
        guard !exceptions.isEmpty, let own = exceptions[descriptor] else { return false }
        return own != allowed
    }

    /// An attempt uses the connection from now on.
    mutating func take(_ descriptor: CInt, for user: UInt64, of client: Int?) {
        guard descriptor >= 0, descriptor < entries.count else { return }
        if entries[Int(descriptor)].isIdle {
            idleCount -= 1
            if let origin = origins[descriptor] { open.changed(origin, by: .init(busy: 1)) }
        }
        entries[Int(descriptor)].user = user
        entries[Int(descriptor)].client = client
    }

    /// An attempt has ended. Its connection is idle now, unless it is closed or another attempt has it already: the
    /// number may be that of another connection by then.
    mutating func release(_ descriptor: CInt, by user: UInt64, at now: UInt64) {
        guard descriptor >= 0, descriptor < entries.count, entries[Int(descriptor)].isConnection,
            entries[Int(descriptor)].user == user
        else { return }
        entries[Int(descriptor)].user = 0
        entries[Int(descriptor)].leavesAt = now + idleWithoutClientMax
        idleCount += 1
        if let origin = origins[descriptor] { open.changed(origin, by: .init(busy: -1)) }
        scheduleLeaving(of: descriptor)
    }

    /// Forgets a descriptor that is about to be closed.
    mutating func remove(_ descriptor: CInt) {
        if let key = self[descriptor].key, descriptors[key] == descriptor { descriptors[key] = nil }
        if !exceptions.isEmpty { exceptions[descriptor] = nil }
        if let origin = origins.removeValue(forKey: descriptor) {
            open.changed(origin, by: .init(open: -1, busy: self[descriptor].isIdle || self[descriptor].isLingering ? 0 : -1))
        }
        if self[descriptor].isIdle { idleCount -= 1 }
        self[descriptor] = Entry()
    }

    // MARK: Clients that have left

    /// Notes that these clients have closed their connections.
    mutating func clientsLeft(_ clients: Set<Int>) {
        for descriptor in entries.indices where entries[descriptor].isToLoopback {
            guard let client = entries[descriptor].client, clients.contains(client) else { continue }
            entries[descriptor].client = nil
            scheduleLeaving(of: CInt(descriptor))
        }
    }

    private mutating func scheduleLeaving(of descriptor: CInt) {
        let entry = self[descriptor]
        if entry.isLeft { leavingAt = min(leavingAt ?? .max, entry.leavesAt) }
    }

    /// The connections that have been idle for `idleWithoutClientMax` without a client. Each is returned once.
    mutating func takeThoseLeft(at now: UInt64) -> [CInt] {
        guard let due = leavingAt, due <= now else { return [] }
        leavingAt = nil
        var left: [CInt] = []
        for index in entries.indices where entries[index].isLeft {
            if entries[index].leavesAt <= now {
                entries[index].leavesAt = .max
                left.append(CInt(index))
            } else {
                leavingAt = min(leavingAt ?? .max, entries[index].leavesAt)
            }
        }
        return left
    }
}

/// Names one TCP connection of ours by its two ends, as PREREQFUNCTION tells them.
struct ConnectionKey: Hashable {
    private let ports: UInt32
    private let addresses: UInt64

    init(
        remoteAddress: UnsafePointer<CChar>, remotePort: CInt, localAddress: UnsafePointer<CChar>,
        localPort: CInt
    ) {
        ports = UInt32(truncatingIfNeeded: remotePort) << 16 | UInt32(truncatingIfNeeded: localPort) & 0xFFFF
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for text in [remoteAddress, localAddress] {
            Self.mix(text, into: &hash)
        }
        addresses = hash
    }

    /// FNV-1a; the addresses are at most 45 characters long.
    private static func mix(_ text: UnsafePointer<CChar>, into hash: inout UInt64) {
        var next = text
        while next.pointee != 0 {
            hash = (hash ^ UInt64(UInt8(bitPattern: next.pointee))) &* 0x100_0000_01b3
            next += 1
        }
        hash = (hash ^ 0xFF) &* 0x100_0000_01b3
    }
}

/// The open connections of one worker, by where they lead. Counted on the worker's thread, read on others.
final class OpenConnections: Sendable {
    private let counts = Mutex<[Origin: ConnectionCount]>([:])

    var all: [Origin: ConnectionCount] { counts.withLock { $0 } }

    func changed(_ origin: Origin, by change: ConnectionCount) {
        counts.withLock { counts in
            var count = counts[origin] ?? .init()
            count += change
            counts[origin] = count.open > 0 ? count : nil
        }
    }
}
