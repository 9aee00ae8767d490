import LayoverEngine
import NIOCore
import Synchronization

/// Takes one body to its file, one piece of work at a time.
final class DiskResponseWriter: ResponseWriter {
    private enum End { case committed, abandoned }

    private struct State {
        var unwritten: [ByteBuffer] = []
        var unwrittenByteCount = 0
        var byteCount = 0
        var isWriting = false
        var end: End?
    }

    private let row: CacheRow
    /// The body length that the head announced; nil if the head announced none.
    private let announced: Int?
    private let cache: DiskResponseCache
    private let file: PartFile
    private let state = Mutex(State())

    init(row: CacheRow, announced: Int?, cache: DiskResponseCache) {
        self.row = row
        self.announced = announced
        self.cache = cache
        file = PartFile(folder: cache.folder)
    }

    deinit {
        // While work is under way the writer is held by it, so nobody else has the file now.
        let (count, isOver) = state.withLock { ($0.byteCount, $0.end != nil) }
        guard !isOver else { return }
        let (file, cache) = (file, cache)
        cache.threads.submit { Self.discard(file, byteCount: count, of: cache) }
    }

    func append(_ bytes: ByteBuffer) {
        guard bytes.readableBytes > 0 else { return }
        let starts = state.withLock { state in
            guard state.end == nil else { return false }
            guard hasRoom(for: bytes.readableBytes, state) else {
                return Self.giveUp(&state)
            }
            state.byteCount += bytes.readableBytes
            state.unwritten.append(bytes)
            state.unwrittenByteCount += bytes.readableBytes
            return Self.starts(&state)
        }
        if starts { write() }
    }

    func commit() {
        finish { state in
            // A length that was not kept to is a body that broke off (RFC 9111 section 3.3).
            if let announced = self.announced, announced != state.byteCount { return .abandoned }
            return .committed
        }
    }

    func abandon() { finish { _ in .abandoned } }

    private func finish(_ end: (State) -> End) {
        let starts = state.withLock { state in
            guard state.end == nil else { return false }
            if case .abandoned = end(state) { return Self.giveUp(&state) }
            state.end = .committed
            return Self.starts(&state)
        }
        if starts { write() }
    }

    /// Reserves space; the cache gives it back when the writer is done.
    private func hasRoom(for count: Int, _ state: State) -> Bool {
        let options = cache.options
        guard state.byteCount + count <= options.responseByteCountMax,
            state.unwrittenByteCount + count <= options.unwrittenByteCountMax
        else { return false }
        return cache.state.withLock { shared in
            guard shared.tally.arrivingByteCount + count <= options.arrivingByteCountMax else { return false }
            shared.tally.arrivingByteCount += count
            return true
        }
    }

    private static func giveUp(_ state: inout State) -> Bool {
        state.end = .abandoned
        state.unwritten = []
        return starts(&state)
    }

    private static func starts(_ state: inout State) -> Bool {
        defer { state.isWriting = true }
        return !state.isWriting
    }

    // MARK: On a thread of the cache

    private func write() {
        cache.threads.submit {
            self.writeNow()
        } orElse: {
            self.cancel()
        }
    }

    private func writeNow() {
        while true {
            let (bytes, end) = state.withLock { state in
                let bytes = state.unwritten
                state.unwritten = []
                state.unwrittenByteCount = 0
                // After the end nobody may start again.
                if bytes.isEmpty, state.end == nil { state.isWriting = false }
                return (bytes, state.end)
            }
            if end == .abandoned { return Self.discard(file, byteCount: state.withLock { $0.byteCount }, of: cache) }
            if bytes.isEmpty { return end == .committed ? keep() : () }
            do {
                for chunk in bytes { try file.append(chunk) }
            } catch {
                cache.failed(error)
                state.withLock { $0.end = .abandoned }
            }
        }
    }

    private func keep() {
        var row = row
        let byteCount = state.withLock { $0.byteCount }
        do {
            row.body = try file.complete()
            cache.insert(row)
        } catch {
            cache.failed(error)
        }
        cache.givesBack(byteCount)
    }

    private func cancel() {
        state.withLock { state in
            state.end = .abandoned
            state.unwritten = []
        }
        Self.discard(file, byteCount: state.withLock { $0.byteCount }, of: cache)
    }

    private static func discard(_ file: PartFile, byteCount: Int, of cache: DiskResponseCache) {
        file.discard()
        cache.givesBack(byteCount)
    }
}

extension DiskResponseCache {
    /// Bytes that are not on their way any more.
    func givesBack(_ count: Int) {
        state.withLock { $0.tally.arrivingByteCount -= count }
    }
}
