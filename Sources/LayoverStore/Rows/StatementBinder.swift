import GRDB
import GRDBSQLite
import LayoverCore
import NIOCore

/// Binds the values of a prepared statement, one after another, and runs it.
///
/// GRDB's own arguments are an array of boxed values, made anew for each row; at tens of thousands of rows a second
/// with forty columns that would be most of the work.
struct StatementBinder: ~Copyable {
    /// Keeps the pointer good.
    private let owner: Statement
    private let statement: OpaquePointer
    private var position: Int32 = 0
    /// The first code that was not OK.
    private var code = SQLITE_OK

    /// Only on the thread that has the database, like everything here.
    init(_ statement: Statement) {
        owner = statement
        self.statement = statement.sqliteStatement
    }

    mutating func bind(_ value: Int64) {
        note(sqlite3_bind_int64(statement, next(), value))
    }

    mutating func bind(_ value: Int) { bind(Int64(value)) }

    mutating func bind(_ value: Bool) { bind(Int64(value ? 1 : 0)) }

    mutating func bind(_ time: Timestamp) { bind(time.nanoseconds) }

    mutating func bind(_ time: Timestamp?) {
        if let time { bind(time) } else { bindNull() }
    }

    mutating func bind(_ value: Int?) {
        if let value { bind(value) } else { bindNull() }
    }

    mutating func bind(_ text: String) {
        var text = text
        let position = next()
        text.withUTF8 { bytes in
            // A nil pointer would be NULL, and not an empty text.
            note(bytes.withMemoryRebound(to: CChar.self) {
                sqlite3_bind_text(statement, position, $0.baseAddress ?? Self.empty, Int32($0.count), Self.transient)
            })
        }
    }

    mutating func bind(_ text: String?) {
        if let text { bind(text) } else { bindNull() }
    }

    mutating func bind(_ value: some RawRepresentable<String>) { bind(value.rawValue) }

    mutating func bind(_ bytes: UnsafeRawBufferPointer) {
        let position = next()
        guard bytes.count > 0 else { return note(sqlite3_bind_zeroblob(statement, position, 0)) }
        note(sqlite3_bind_blob64(statement, position, bytes.baseAddress, UInt64(bytes.count), Self.transient))
    }

    mutating func bind(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { bind($0) }
    }

    mutating func bind(_ buffer: ByteBuffer) {
        buffer.withUnsafeReadableBytes { bind($0) }
    }

    mutating func bind(_ buffer: ByteBuffer?) {
        if let buffer { bind(buffer) } else { bindNull() }
    }

    /// 16 bytes.
    mutating func bind(_ id: EntryID) {
        withUnsafeBytes(of: (id.high.bigEndian, id.low.bigEndian)) { bind($0) }
    }

    mutating func bindNull() {
        note(sqlite3_bind_null(statement, next()))
    }

    /// Runs a statement to its end and hands each row to `row`.
    ///
    /// - Returns: How many rows it changed.
    @discardableResult
    consuming func run(_ row: (inout RowReader) throws(StoreError) -> Void = { _ in }) throws(StoreError) -> Int {
        try runWhile { (reader) throws(StoreError) in
            try row(&reader)
            return true
        }
    }

    /// Runs a statement and hands each row to `isWanting`, until that says false.
    @discardableResult
    consuming func runWhile(_ isWanting: (inout RowReader) throws(StoreError) -> Bool) throws(StoreError) -> Int {
        defer { withExtendedLifetime(owner) { _ = sqlite3_reset(statement) } }
        let connection = sqlite3_db_handle(statement)
        guard code == SQLITE_OK else { throw StoreError(code, of: connection) }
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                var row = RowReader(statement)
                guard try isWanting(&row) else { return Int(sqlite3_changes(connection)) }
            case SQLITE_DONE: return Int(sqlite3_changes(connection))
            default: throw StoreError(sqlite3_extended_errcode(connection), of: connection)
            }
        }
    }

    private mutating func next() -> Int32 {
        position += 1
        return position
    }

    private mutating func note(_ result: Int32) {
        if code == SQLITE_OK { code = result }
    }

    /// SQLite copies the value (sqlite.org/c3ref/c_static.html).
    private static var transient: sqlite3_destructor_type {
        unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    }

    /// Any address will do for a text without bytes.
    private static var empty: UnsafePointer<CChar>? { UnsafePointer(bitPattern: 1) }
}
