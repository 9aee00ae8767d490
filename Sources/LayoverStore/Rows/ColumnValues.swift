import LayoverCore
import LayoverEngine
import NIOCore

extension StatementBinder {
    /// The columns `body`, `bodyFile` and `bodyByteCount`.
    mutating func bind(_ body: StoredBody) {
        switch body {
        case .none:
            bindNull()
            bindNull()
        case .inline(let bytes):
            bind(bytes)
            bindNull()
        case .file(let name, _):
            bindNull()
            bind(name)
        }
        bind(body.byteCount)
    }

    /// The columns `keyNumber` and `sealed`.
    mutating func bind(_ sealed: FieldSealing.Sealed?) {
        bind(sealed?.keyNumber)
        if let sealed { bind(sealed.bytes) } else { bindNull() }
    }
}

extension RowReader {
    mutating func body() throws(StoreError) -> StoredBody {
        let bytes = optionalBuffer()
        let name = optionalText()
        let byteCount = try count()
        if let name { return .file(name: name, byteCount: byteCount) }
        return bytes.map { .inline($0) } ?? .none
    }

    mutating func sealed() -> FieldSealing.Sealed? {
        let number = optionalInt()
        let bytes = Array(bytes())
        return number.map { FieldSealing.Sealed(keyNumber: $0, bytes: bytes) }
    }
}

extension StatementBinder {
    /// Three columns.
    mutating func bind(_ origin: Origin) {
        bind(origin.scheme)
        bind(origin.host)
        bind(origin.port)
    }
}

extension RowReader {
    mutating func origin() throws(StoreError) -> Origin {
        Origin(scheme: try name(), host: text(), port: int())
    }
}

extension EntryID {
    static let byteCount = 16

    /// The 16 bytes of an id, most significant first; nil when there are not 16.
    init?(bytes: UnsafeRawBufferPointer) {
        guard bytes.count == Self.byteCount else { return nil }
        self.init(
            high: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    var bytes: [UInt8] {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) }
    }
}
