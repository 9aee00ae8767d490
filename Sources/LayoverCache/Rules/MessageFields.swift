import LayoverHTTP
import NIOCore

/// The fields of a request or an answer, in order. Names in lower case, values as bytes.
///
/// Read only where a policy asks for the cache, so plainness comes before speed here.
struct MessageFields: Sendable {
    struct Field: Sendable, Equatable {
        let name: String
        let value: [UInt8]
    }

    private(set) var all: [Field] = []

    /// - Parameter lines: Each `Name: value` (or `Name;` for an empty value) and a NUL.
    init(requestLines lines: ByteBuffer) {
        for line in lines.readableBytesView.split(separator: 0) {
            let name = line.prefix { $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: ";") }
            add(name, line.dropFirst(name.count + 1))
        }
    }

    /// - Parameter head: A status line and field lines, each with its CRLF.
    init(answerHead head: ByteBuffer) {
        for line in head.readableBytesView.split(separator: UInt8(ascii: "\n")).dropFirst() {
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard name.count < line.count else { continue }
            add(name, line.dropFirst(name.count + 1))
        }
    }

    private mutating func add(_ name: some Collection<UInt8>, _ value: some BidirectionalCollection<UInt8>) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0D }
        var value = value.drop(while: isSpace)[...]
        while let last = value.last, isSpace(last) { value = value.dropLast() }
        all.append(Field(name: String(decoding: name, as: UTF8.self).lowercased(), value: Array(value)))
    }

    func contains(_ name: String) -> Bool { all.contains { $0.name == name } }

    func values(_ name: String) -> [[UInt8]] { all.filter { $0.name == name }.map(\.value) }

    func texts(_ name: String) -> [String] { values(name).map { String(decoding: $0, as: UTF8.self) } }

    /// The value of the first field of that name.
    func text(_ name: String) -> String? { texts(name).first }
}
