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
