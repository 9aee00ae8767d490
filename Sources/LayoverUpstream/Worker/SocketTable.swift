/// What a worker knows of each descriptor that libcurl uses, by descriptor number.
struct SocketTable {
    struct Entry {
        /// Whose descriptor it is; nil when it is none of ours.
        unowned(unsafe) var generation: MultiGeneration?
        /// What libcurl waits for now: EPOLLIN and EPOLLOUT.
        var wanted: UInt32 = 0
        /// What epoll was told; 0 when the descriptor is not registered.
        var registered: UInt32 = 0
        /// Whether we opened it, so that we also close it and know when its number is free again.
        var isConnection = false
        var key: ConnectionKey?
    }

    private var entries: [Entry] = []
    private var descriptors: [ConnectionKey: CInt] = [:]

    subscript(descriptor: CInt) -> Entry {
        get { descriptor >= 0 && descriptor < entries.count ? entries[Int(descriptor)] : Entry() }
        set {
            guard descriptor >= 0 else { return }
            while entries.count <= descriptor { entries.append(Entry()) }
            entries[Int(descriptor)] = newValue
        }
    }

    /// Remembers which connection a descriptor carries.
    mutating func identify(_ descriptor: CInt, as key: ConnectionKey) {
        self[descriptor].key = key
        descriptors[key] = descriptor
    }

    func descriptor(of key: ConnectionKey) -> CInt? { descriptors[key] }

    /// Forgets a descriptor that is about to be closed.
    mutating func remove(_ descriptor: CInt) {
        if let key = self[descriptor].key, descriptors[key] == descriptor { descriptors[key] = nil }
        self[descriptor] = Entry()
    }
}
