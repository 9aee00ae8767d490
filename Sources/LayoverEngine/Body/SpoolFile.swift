import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// One body's file in the spool: opened at the first byte, gone with its last user.
final class SpoolFile: Sendable {
    private struct State {
        var descriptor: CInt = -1
        var byteCount = 0
        var isDropped = false
        /// The name it was given: then it belongs to the store, and its bytes stay counted.
        var name: String?
        /// Whether the start that was kept in memory has been filled in.
        var isFilledIn = false
        /// The error of a failed sync. It is unknown from then on whether the file is on disk, so it is never named.
        var syncFailure: SpoolFailure?
        /// What the last of our calls that failed met.
        var failure: SpoolFailure?
    }

    private let spool: BodySpool
    private let state = Mutex(State())
    /// Bytes of a body that goes into a row of the store. They belong to the store, and stay counted.
    private let inRowByteCount = Mutex(0)
    /// The name that the file is to have. Nil: none. The threads of the spool may do what was asked in another order. It is not in `state`,
    /// whose lock is held while the disk works: event loops set it.
    private let wantedName = Mutex<String?>(nil)

    /// A file that is in the folder already; nil: a new file without a name is made at the first byte.
    private let existing: String?

    init(spool: BodySpool, existing: String? = nil) {
        self.spool = spool
        self.existing = existing
    }

    deinit { drop() }

    /// Why the file could not be written or named; nil if there was no failure.
    var failure: SpoolFailure? { state.withLock { $0.failure } }

    /// Writes in the background; `done(false)` when the disk or the spool's limit is full.
    func write(_ bytes: ByteBuffer, at offset: Int, done: @escaping @Sendable (Bool) -> Void) {
        submit {
            done(self.writeNow(bytes, at: offset))
        } orElse: {
            done(false)
        }
    }

    /// Fills in the start, syncs, and gives the file its name, all in the background.
    func persist(_ prefix: ByteBuffer, as name: String, done: @escaping @Sendable (Bool) -> Void) {
        wantedName.withLock { $0 = name }
        submit {
            done(self.persistNow(prefix, as: name))
        } orElse: {
            done(false)
        }
    }

    /// Counts the bytes of a body that goes into a row of the store instead of a file: it takes room all the same.
    ///
    /// - Parameter isForced: Whether they are kept although `limits.spoolTotal` is reached.
    /// - Returns: False when it is reached.
    func storeInRow(byteCount: Int, isForced: Bool) -> Bool {
        inRowByteCount.withLock { kept in
            // A second call for the same body, because the outcome of the first one is unknown.
            if kept > 0 { return true }
            if isForced {
                spool.countStored(byteCount)
            } else if !spool.reserve(byteCount) {
                state.withLock { $0.failure = .limit(spool.byteCountMax) }
                return false
            }
            kept = byteCount
            return true
        }
    }

    /// Takes back what was given to the store: the bytes of a row, or, in the background, a name, so that the file is only
    /// ours once more.
    func disown() {
        let byteCount = inRowByteCount.withLock { kept in
            defer { kept = 0 }
            return kept
        }
        guard byteCount == 0 else { return spool.release(byteCount) }
        wantedName.withLock { $0 = nil }
        submit {
            self.state.withLock { state in
                // A newer call of `persist` may want this name.
                guard let name = state.name, self.wantedName.withLock({ $0 != name }), unlink(self.spool.folder + "/" + name) == 0
                else { return }
                state.name = nil
            }
        } orElse: {
        }
    }

    /// Reads in the background; `done(nil)` on an error.
    func read(at offset: Int, count: Int, done: @escaping @Sendable (ByteBuffer?) -> Void) {
        submit {
            done(self.readNow(at: offset, count: count))
        } orElse: {
            done(nil)
        }
    }

    /// Opens an existing file and checks its length, in the background. Once it is open, it stays readable even if it is
    /// removed.
    func openExisting(byteCount: Int, done: @escaping @Sendable (StoredBodyFault?) -> Void) {
        guard existing != nil else { return done(nil) }
        submit {
            done(self.openNow(byteCount: byteCount))
        } orElse: {
            done(.unreadable("The proxy is stopping."))
        }
    }

    /// Gives the space back. Reads and appends fail from now on.
    func drop() {
        state.withLock { state in
            state.isDropped = true
            if state.descriptor >= 0 { close(state.descriptor) }
            state.descriptor = -1
            if state.name == nil { spool.release(state.byteCount) }
            state.byteCount = 0
        }
    }

    private func submit(_ work: @escaping @Sendable () -> Void, orElse: @escaping @Sendable () -> Void) {
        spool.threads.submit { itemState in
            if case .active = itemState { work() } else { orElse() }
        }
    }

    // The lock is held across the write: only the spool's threads and `drop` ever take it.
    private func writeNow(_ bytes: ByteBuffer, at offset: Int) -> Bool {
        state.withLock { state in
            guard !state.isDropped, reserve(bytes.readableBytes, &state) else { return false }
            if state.descriptor < 0 { state.descriptor = Self.open(in: spool.folder) }
            guard state.descriptor >= 0,
                Self.write(bytes, to: state.descriptor, at: offset)
            else {
                state.failure = .system(errno)
                spool.release(bytes.readableBytes)
                return false
            }
            state.byteCount += bytes.readableBytes
            return true
        }
    }

    private func openNow(byteCount: Int) -> StoredBodyFault? {
        state.withLock { state in
            guard let existing, !state.isDropped else { return nil }
            if state.descriptor < 0 { state.descriptor = StoredBodyFile.open(existing, in: spool.folder) }
            return StoredBodyFile.fault(of: state.descriptor, name: existing, byteCount: byteCount)
        }
    }

    private func persistNow(_ prefix: ByteBuffer, as name: String) -> Bool {
        state.withLock { state in
            // A second call for the same body, because the outcome of the first one is unknown.
            if state.name == name { return true }
            if let failure = state.syncFailure {
                state.failure = failure
                return false
            }
            guard state.descriptor >= 0, fillIn(prefix, &state) else { return false }
            switch SpoolNaming.name(state.descriptor, name, in: spool.folderSync) {
            case .named:
                state.name = name
                return true
            case .notSynced:
                state.syncFailure = .system(errno)
                state.failure = state.syncFailure
            case .refused:
                state.failure = .system(errno)
            }
            return false
        }
    }

    private func reserve(_ count: Int, _ state: inout State) -> Bool {
        if spool.reserve(count) { return true }
        state.failure = .limit(spool.byteCountMax)
        return false
    }

    private func fillIn(_ prefix: ByteBuffer, _ state: inout State) -> Bool {
        if state.isFilledIn { return true }
        guard reserve(prefix.readableBytes, &state) else { return false }
        guard Self.write(prefix, to: state.descriptor, at: 0) else {
            state.failure = .system(errno)
            spool.release(prefix.readableBytes)
            return false
        }
        state.byteCount += prefix.readableBytes
        state.isFilledIn = true
        return true
    }

    private func readNow(at offset: Int, count: Int) -> ByteBuffer? {
        state.withLock { state in
            if state.descriptor < 0, let existing, !state.isDropped {
                state.descriptor = StoredBodyFile.open(existing, in: spool.folder)
            }
            guard state.descriptor >= 0, count > 0 else { return nil }
            var buffer = ByteBufferAllocator().buffer(capacity: count)
            let descriptor = state.descriptor
            var result = 0
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
                repeat {
                    result = pread(descriptor, target.baseAddress, count, off_t(offset))
                } while result < 0 && errno == EINTR
                return max(0, result)
            }
            return result > 0 ? buffer : nil
        }
    }

    /// `__O_TMPFILE` of asm-generic/fcntl.h; together with O_DIRECTORY it is the `O_TMPFILE` of open(2).
    private static let nameless: CInt = 0o20000000

    private static func open(in folder: String) -> CInt {
        mkdir(folder, 0o700)
        let descriptor = Glibc.open(folder, nameless | O_DIRECTORY | O_RDWR | O_CLOEXEC, 0o600)
        if descriptor >= 0 { return descriptor }
        // Some file systems cannot make nameless files.
        var template = Array("\(folder)/body-XXXXXX".utf8CString)
        let named = mkstemp(&template)
        if named >= 0 {
            unlink(template)
            _ = fcntl(named, F_SETFD, FD_CLOEXEC)
        }
        return named
    }

    private static func write(_ bytes: ByteBuffer, to descriptor: CInt, at offset: Int) -> Bool {
        bytes.withUnsafeReadableBytes { source in
            var done = 0
            while done < source.count {
                let rest = UnsafeRawBufferPointer(rebasing: source[done...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }
}
