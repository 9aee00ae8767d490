import Glibc
import GRDBSQLite
import LayoverEngine

extension StoreError {
    /// The failure for the other targets.
    ///
    /// SQLite knows a full disk only by `ENOSPC` of a write, and calls everything else an I/O error: a quota, an
    /// index of its log that cannot grow, a file system that went read-only. So the disk itself is asked too.
    func failure(in folder: String, mayBeKept: Bool = false) -> StoreFailure {
        let kind = kind(disk: DiskState(of: folder))
        return StoreFailure(kind, "\(Self.sentence(kind)) (SQLite \(code): \(text))", mayBeKept: mayBeKept)
    }

    func kind(disk: DiskState) -> StoreFailure.Kind {
        switch primaryCode {
        case SQLITE_FULL: .full
        case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: .readOnly
        case SQLITE_CORRUPT, SQLITE_NOTADB: .corrupt
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .locked
        case SQLITE_IOERR, SQLITE_CANTOPEN: kindOfInputOutput(disk)
        default: .other
        }
    }

    private func kindOfInputOutput(_ disk: DiskState) -> StoreFailure.Kind {
        switch systemCode {
        case ENOSPC, EDQUOT: .full
        case EROFS, EACCES, EPERM: .readOnly
        default: disk.isReadOnly ? .readOnly : disk.isFull ? .full : .io
        }
    }

    private static func sentence(_ kind: StoreFailure.Kind) -> String {
        switch kind {
        case .full: "The disk of the store is full."
        case .readOnly: "The store cannot be written: its file system or its files are read-only."
        case .io: "Reading or writing the store failed."
        case .corrupt: "The store is damaged."
        case .locked: "Another process uses the store."
        case .closed: "The store is closed."
        case .other: "The store refused a change."
        }
    }
}

/// The state of a file system.
struct DiskState {
    var isFull = false
    var isReadOnly = false

    init(isFull: Bool = false, isReadOnly: Bool = false) {
        self.isFull = isFull
        self.isReadOnly = isReadOnly
    }

    init(of folder: String) {
        var facts = statvfs()
        guard statvfs(folder, &facts) == 0 else { return }
        // Less than one growth of the log's index needs.
        isFull = UInt64(facts.f_bavail) * UInt64(facts.f_frsize) < 64 << 10
        isReadOnly = facts.f_flag & UInt(ST_RDONLY) != 0
    }
}
