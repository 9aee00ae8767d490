import LayoverHTTP
import NIOCore

/// Fields of a response that say where something is.
extension RouteAddresses {
    /// The lines of a head with the addresses that the client is to have. All other lines stay byte for byte.
    ///
    /// - Parameter lines: Field lines, each with its CRLF; a status line may stand before them.
    func rewriting(_ lines: ByteBuffer) -> ByteBuffer {
        var out = ByteBuffer()
        out.reserveCapacity(lines.readableBytes + 256)
        for line in FieldLines(lines, end: .lineBreak) {
            switch changed(line) {
            case .kept: out.writeImmutableBuffer(line.line)
            case .removed: continue
            case .value(let value):
                out.writeBytes(line.line.readableBytesView.prefix(line.valueStart))
                out.writeBytes(value)
            }
            out.writeStaticString("\r\n")
        }
        return out
    }

    private enum Change {
        case kept, removed
        case value([UInt8])
    }

    private func changed(_ line: FieldSlice) -> Change {
        guard line.isField, line.hasValue else { return .kept }
        if line.isNamed("Location") || line.isNamed("Content-Location") {
            return rewriting(Self.bytes(line)).map { .value($0) } ?? .kept
        }
        if line.isNamed("Link") { return .value(LinkTargets.replaced(in: Self.bytes(line), by: rewriting)) }
        if line.isNamed("Refresh") { return .value(RefreshTarget.replaced(in: Self.bytes(line), by: rewriting)) }
        if line.isNamed("Set-Cookie") { return cookie(Self.bytes(line)).map { .value($0) } ?? .removed }
        return .kept
    }

    private static func bytes(_ line: FieldSlice) -> [UInt8] { Array(line.value.readableBytesView) }
}
