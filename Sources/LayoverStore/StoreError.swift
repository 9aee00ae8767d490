import GRDB
import GRDBSQLite
import Glibc
import LayoverEngine
import LayoverSystem

/// An error inside the store, before it becomes a `StoreFailure`.
struct StoreError: Error {
    /// SQLite's extended result code (sqlite.org/rescode.html).
    var code: Int32
    /// errno of the system call behind it; 0 when there was none.
    var systemCode: Int32 = 0
    /// SQLite's message. It names tables and columns, never values.
    var text: String

    /// Of the last call on a connection.
    init(_ code: Int32, of connection: OpaquePointer?) {
        self.code = code
        systemCode = sqlite3_system_errno(connection)
        text = connection.map { String(cString: sqlite3_errmsg($0)) } ?? ""
    }

    init(code: Int32, text: String) {
        self.code = code
        self.text = text
    }

    /// GRDB's errors hold the statement; only SQLite's message is taken over.
    init(_ error: any Error, of connection: OpaquePointer? = nil) {
        switch error {
        case let error as StoreError: self = error
        case let error as DatabaseError:
            self.init(code: error.extendedResultCode.rawValue, text: error.message ?? "")
            if let connection { systemCode = sqlite3_system_errno(connection) }
        case let error as CryptoError: self.init(code: SQLITE_ERROR, text: error.description)
        default: self.init(code: SQLITE_ERROR, text: "an unexpected error")
        }
    }

    /// A row with a value that Layover never writes.
    static let malformedRow = StoreError(code: SQLITE_CORRUPT, text: "a row cannot be read")

    /// Which row it is, by its `sequence`.
    static func malformedRow(_ table: String, _ sequence: Int) -> StoreError {
        StoreError(code: SQLITE_CORRUPT, text: "row \(sequence) of the table \(table) cannot be read")
    }

    /// GRDB's error for a closed pool.
    var isOfClosedConnection: Bool { primaryCode == SQLITE_MISUSE }

    /// Without the extension.
    var primaryCode: Int32 { code & 0xFF }
}

extension StoreError {
    /// The failure for the other targets.
    ///
    /// SQLite knows a full disk only by `ENOSPC` of a write, and calls everything else an I/O error: a quota, an
    /// index of its log that cannot grow, a file system that went read-only. So the disk itself is asked too.
    func failure(in folder: String, mayBeStored: Bool = false) -> StoreFailure {
        let kind = kind(disk: DiskState(of: folder))
        return StoreFailure(kind, "\(Self.sentence(kind)) (SQLite \(code): \(text))", mayBeStored: mayBeStored)
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
