import LayoverCore
import NIOCore

/// Field lines as they are kept: `Name: value` and an end, which is a NUL for requests and a CRLF for answers.
///
/// Takes the values of some fields out, by the number of their line, and puts them back.
struct FieldLines {
    /// How a line ends.
    enum End {
        case null, lineBreak

        var bytes: [UInt8] { self == .null ? [0] : [13, 10] }
    }

    /// A value that was taken out of a line.
    struct Credential: Equatable {
        /// From 0.
        var line: Int
        var value: [UInt8]
    }

    /// Names in lower case of the fields whose values are secret.
    var secretNames: [[UInt8]]
    var end: End

    private static let dropped = Array(CredentialFields.ofProxy.utf8)

    /// The lines without the secret values, and the values. `Proxy-Authorization` is gone altogether.
    func split(_ fields: ByteBuffer) -> (clear: ByteBuffer, secrets: [Credential]) {
        var isClear = true
        forEachLine(fields) { _, name, _ in
            if isSecret(name) || Self.isEqual(name, Self.dropped) { isClear = false }
        }
        if isClear { return (fields, []) }
        var clear = ByteBuffer()
        var secrets: [Credential] = []
        var number = 0
        forEachLine(fields) { line, name, value in
            if Self.isEqual(name, Self.dropped) { return }
            if isSecret(name), let value {
                secrets.append(Credential(line: number, value: Array(value)))
                clear.writeBytes(UnsafeRawBufferPointer(rebasing: line[..<(line.count - value.count)]))
            } else {
                clear.writeBytes(line)
            }
            clear.writeBytes(end.bytes)
            number += 1
        }
        return (clear, secrets)
    }

    /// The lines with the values back in their places.
    func join(_ clear: ByteBuffer, _ secrets: [Credential]) -> ByteBuffer {
        if secrets.isEmpty { return clear }
        var fields = ByteBuffer()
        var number = 0
        var rest = secrets[...]
        forEachLine(clear) { line, _, _ in
            fields.writeBytes(line)
            if let secret = rest.first, secret.line == number {
                fields.writeBytes(secret.value)
                rest.removeFirst()
            }
            fields.writeBytes(end.bytes)
            number += 1
        }
        return fields
    }

    /// Hands out each line without its end, its name, and what stands behind the colon and the spaces after it;
    /// nil where there is no colon.
    private func forEachLine(
        _ fields: ByteBuffer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer?) -> Void
    ) {
        fields.withUnsafeReadableBytes { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let stop = rest.firstIndex(of: end == .null ? 0 : 10) ?? rest.endIndex
                var line = UnsafeRawBufferPointer(rebasing: rest[..<stop])
                if end == .lineBreak, line.last == 13 { line = UnsafeRawBufferPointer(rebasing: line.dropLast()) }
                rest = UnsafeRawBufferPointer(rebasing: rest[min(stop + 1, rest.endIndex)...])
                Self.parts(of: line, body)
            }
        }
    }

    private static func parts(
        of line: UnsafeRawBufferPointer,
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer, UnsafeRawBufferPointer?) -> Void
    ) {
        let nameEnd = line.firstIndex { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ";") } ?? line.endIndex
        let name = UnsafeRawBufferPointer(rebasing: line[..<nameEnd])
        guard nameEnd < line.endIndex, line[nameEnd] == UInt8(ascii: ":") else { return body(line, name, nil) }
        let start = line[(nameEnd + 1)...].firstIndex { $0 != 32 && $0 != 9 } ?? line.endIndex
        body(line, name, UnsafeRawBufferPointer(rebasing: line[start...]))
    }

    private func isSecret(_ name: UnsafeRawBufferPointer) -> Bool {
        secretNames.contains { Self.isEqual(name, $0) }
    }

    /// Field names are the same in any case (RFC 9110 section 5.1).
    private static func isEqual(_ name: UnsafeRawBufferPointer, _ lowerCase: [UInt8]) -> Bool {
        guard name.count == lowerCase.count else { return false }
        return zip(name, lowerCase).allSatisfy { byte, expected in
            (65...90).contains(byte) ? byte | 32 == expected : byte == expected
        }
    }
}
