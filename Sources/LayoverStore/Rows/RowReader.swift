import GRDBSQLite
import LayoverCore
import NIOCore

/// Reads the columns of one row, one after another.
struct RowReader {
    private let statement: OpaquePointer
    private var position: Int32 = -1

    init(_ statement: OpaquePointer) { self.statement = statement }

    /// The same row, to be read from a column on. The first one is 0.
    func at(_ column: Int32) -> RowReader {
        var reader = self
        reader.position = column - 1
        return reader
    }

    mutating func int64() -> Int64 { sqlite3_column_int64(statement, next()) }

    mutating func int() -> Int { Int(int64()) }

    /// Limit of all stored counts, so that adding to one cannot overflow.
    static let countMax = 1 << 53

    /// Something that we counted.
    mutating func count() throws(StoreError) -> Int {
        let value = int64()
        guard value >= 0, value <= Self.countMax else { throw .malformedRow }
        return Int(value)
    }

    mutating func bool() -> Bool { int64() != 0 }

    mutating func time() -> Timestamp { Timestamp(nanoseconds: int64()) }

    mutating func optionalTime() -> Timestamp? { nextIsNull() ? skip() : time() }

    mutating func optionalInt() -> Int? { nextIsNull() ? skip() : int() }

    mutating func text() -> String {
        let column = next()
        guard let start = sqlite3_column_text(statement, column) else { return "" }
        let count = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    }

    mutating func optionalText() -> String? { nextIsNull() ? skip() : text() }

    /// A value that is kept by its name.
    mutating func name<Value: RawRepresentable<String>>(_: Value.Type = Value.self) throws(StoreError) -> Value {
        guard let value = Value(rawValue: text()) else { throw .malformedRow }
        return value
    }

    mutating func optionalName<Value: RawRepresentable<String>>(
        _: Value.Type = Value.self
    ) throws(StoreError) -> Value? {
        nextIsNull() ? skip() : try name()
    }

    /// The bytes are there until the next row.
    mutating func bytes() -> UnsafeRawBufferPointer {
        let column = next()
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    mutating func buffer() -> ByteBuffer { ByteBuffer(bytes: bytes()) }

    mutating func optionalBuffer() -> ByteBuffer? { nextIsNull() ? skip() : buffer() }

    mutating func id() throws(StoreError) -> EntryID {
        guard let id = EntryID(bytes: bytes()) else { throw .malformedRow }
        return id
    }

    private func nextIsNull() -> Bool { sqlite3_column_type(statement, position + 1) == SQLITE_NULL }

    private mutating func skip<Value>() -> Value? {
        position += 1
        return nil
    }

    private mutating func next() -> Int32 {
        position += 1
        return position
    }
}
