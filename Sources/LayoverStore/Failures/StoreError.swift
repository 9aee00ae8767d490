import GRDB
import GRDBSQLite
import LayoverCrypto

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
