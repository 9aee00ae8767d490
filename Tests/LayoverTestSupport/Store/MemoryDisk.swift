import Glibc
import LayoverCore
import LayoverEngine
import Synchronization

/// The data that outlives a process with a `MemoryStore`.
package final class MemoryDisk: Sendable {
    private struct State {
        var content = MemoryContent()
        /// The content after a restart if a failed commit was kept after all.
        var ghost: MemoryContent?
    }

    private let state = Mutex(State())
    private let spoolFolder: String?
    private let removed = Mutex<@Sendable (Int) -> Void>({ _ in })

    /// - Parameter spoolFolder: Where the files of bodies lie that are removed with their tickets. Default: nowhere.
    package init(spoolFolder: String? = nil) { self.spoolFolder = spoolFolder }

    var content: MemoryContent { state.withLock { $0.content } }

    /// A process starts.
    func open() {
        let named = state.withLock { state in
            if let ghost = state.ghost { state.content = ghost }
            state.ghost = nil
            return state.content.fileNames
        }
        sweep(keeping: named)
    }

    /// Applies calls one after another, each all or none.
    ///
    /// - Parameters:
    ///   - refusals: The failure of each call by itself.
    ///   - failure: The failure of all calls together.
    func commit(
        _ calls: [[StoreChange]], refusals: [StoreFailure?], failure: StoreFailure?
    ) -> [Result<[StoreResult], StoreFailure>] {
        let (results, released) = state.withLock { state -> ([Result<[StoreResult], StoreFailure>], [MemoryContent.Released]) in
            var draft = state.content
            var released: [MemoryContent.Released] = []
            let results = zip(calls, refusals).map { call, refusal -> Result<[StoreResult], StoreFailure> in
                if let refusal { .failure(refusal) } else { draft.apply(call: call, released: &released) }
            }
            if let failure {
                if failure.mayBeStored { state.ghost = draft }
                return (calls.map { _ in .failure(failure) }, [])
            }
            state.content = draft
            state.ghost = nil
            return (results, released)
        }
        remove(released)
        return results
    }

    func removeEnded(before time: Timestamp, limit: Int) -> Int {
        let (count, released) = state.withLock { $0.content.removeEnded(before: time, limit: limit) }
        remove(released)
        return count
    }

    func clock(bootID: String, proposal: Int64, now: Timestamp) -> TicketClock {
        state.withLock { state in
            let kept = state.content.clock
            var clock = kept?.clock ?? TicketClock()
            if kept?.bootID != bootID {
                let date = Timestamp(nanoseconds: now.nanoseconds &+ proposal)
                clock = clock.next(offset: proposal, now: date, seen: state.content.seenAt)
            }
            state.content.clock = (bootID, clock)
            state.content.seenAt = Timestamp(nanoseconds: now.nanoseconds &+ clock.offset)
            return clock
        }
    }

    /// Has somebody told the bytes of each body that is removed, in a file or in a row.
    func notifyRemoved(_ removed: @escaping @Sendable (Int) -> Void) { self.removed.withLock { $0 = removed } }

    private func remove(_ bodies: [MemoryContent.Released]) {
        remove(bodies.compactMap(\.name))
        let removed = self.removed.withLock { $0 }
        for body in bodies { removed(body.byteCount) }
    }

    private func remove(_ names: [String]) {
        guard let spoolFolder else { return }
        for name in names where StoredBody.isFileName(name) { unlink("\(spoolFolder)/\(name)") }
    }

    private func sweep(keeping named: Set<String>) {
        guard let spoolFolder, let folder = opendir(spoolFolder) else { return }
        defer { closedir(folder) }
        var orphans: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !named.contains(name) { orphans.append(name) }
        }
        remove(orphans)
    }
}
