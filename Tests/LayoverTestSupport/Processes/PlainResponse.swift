package import Foundation

/// A response as bytes, taken apart just enough for a test: status, head, body.
package struct PlainResponse: Sendable {
    package var status: Int
    package var head: String
    package var body: Data

    /// - Throws: When it does not begin with a whole response head.
    package init(_ bytes: Data) throws {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)),
            let head = String(data: bytes[..<end.lowerBound], encoding: .isoLatin1),
            head.hasPrefix("HTTP/1.1 "), let status = Int(head.dropFirst(9).prefix(3))
        else { throw ProcessError("No response: \(String(decoding: bytes.prefix(500), as: UTF8.self))") }
        self.status = status
        self.head = head
        body = Self.isChunked(head) ? try Self.joined(bytes[end.upperBound...]) : Data(bytes[end.upperBound...])
    }

    /// The value of the first field of that name.
    package func field(_ name: String) -> String? {
        for line in head.split(separator: "\r\n").dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2, parts[0].lowercased() == name.lowercased() {
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        return nil
    }

    package var text: String { String(decoding: body, as: UTF8.self) }

    private static func isChunked(_ head: String) -> Bool {
        head.lowercased().contains("\r\ntransfer-encoding: chunked")
    }

    private static func joined(_ chunks: Data) throws -> Data {
        var rest = chunks
        var body = Data()
        while let line = rest.range(of: Data("\r\n".utf8)) {
            let size = String(decoding: rest[rest.startIndex..<line.lowerBound], as: UTF8.self)
            guard let count = Int(size.prefix { $0 != ";" }, radix: 16), rest.distance(from: line.upperBound, to: rest.endIndex) >= count
            else { break }
            if count == 0 { return body }
            body.append(rest[line.upperBound..<line.upperBound + count])
            rest = rest[(line.upperBound + count)...].dropFirst(2)
        }
        throw ProcessError("The chunked body is not whole.")
    }
}
