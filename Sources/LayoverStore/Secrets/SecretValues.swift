import LayoverCore
import LayoverHTTP
import NIOCore

/// Takes the values of some fields out of field lines, by the number of their line, and puts them back.
struct SecretValues {
    /// A value that was taken out of a line.
    struct Credential: Equatable {
        /// From 0.
        var line: Int
        var value: [UInt8]
    }

    /// The fields whose values are secret; upper and lower case are the same.
    var names: [String]
    /// NULs in requests, line breaks in responses.
    var end: FieldLines.End

    private static let dropped = CredentialFields.ofProxy

    /// The lines without the secret values, and the values. `Proxy-Authorization` is gone altogether.
    func split(_ fields: ByteBuffer) -> (clear: ByteBuffer, secrets: [Credential]) {
        let lines = FieldLines(fields, end: end)
        if !lines.contains(where: { isSecret($0) || $0.isNamed(Self.dropped) }) { return (fields, []) }
        var clear = ByteBuffer()
        var secrets: [Credential] = []
        var number = 0
        for field in lines where !field.isNamed(Self.dropped) {
            if isSecret(field), field.hasValue {
                let bytes = field.line.readableBytesView
                secrets.append(Credential(line: number, value: Array(bytes.dropFirst(field.valueStart))))
                clear.writeBytes(bytes.prefix(field.valueStart))
            } else {
                clear.writeImmutableBuffer(field.line)
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
        var rest = secrets[...]
        for (number, field) in FieldLines(clear, end: end).enumerated() {
            fields.writeImmutableBuffer(field.line)
            if let secret = rest.first, secret.line == number {
                fields.writeBytes(secret.value)
                rest.removeFirst()
            }
            fields.writeBytes(end.bytes)
        }
        return fields
    }

    private func isSecret(_ field: FieldSlice) -> Bool { names.contains { field.isNamed($0) } }
}
