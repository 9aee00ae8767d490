import LayoverHTTP
import NIOCore

/// The fields of a request or a response, in order. Names in lower case, values as bytes.
///
/// Read only where a policy asks for the cache, so plainness comes before speed here.
struct MessageFields: Sendable {
    struct Field: Sendable, Equatable {
        let name: String
        let value: [UInt8]
    }

    private(set) var all: [Field] = []

    init(_ fields: some Sequence<FieldSlice>) {
        for field in fields where field.isField {
            all.append(Field(name: field.name.lowercased(), value: Array(field.value.readableBytesView)))
        }
    }

    /// - Parameter head: A status line and field lines, each with its CRLF.
    init(responseHead head: ByteBuffer) {
        self.init(FieldLines(head, end: .lineBreak).dropFirst())
    }

    func contains(_ name: String) -> Bool { all.contains { $0.name == name } }

    func values(_ name: String) -> [[UInt8]] { all.filter { $0.name == name }.map(\.value) }

    func texts(_ name: String) -> [String] { values(name).map { String(decoding: $0, as: UTF8.self) } }

    /// The value of the first field of that name.
    func text(_ name: String) -> String? { texts(name).first }
}
