import LayoverHTTP
package import NIOCore

extension UpstreamRequest {
    /// Appends the fields as they stand in a head of HTTP/1.1: `fields` in their order, with Host, framing and `Expect` in their
    /// places. Allocates nothing but room.
    ///
    /// - Parameter isWanted: Is shown each line of `fields` without its end.
    package func writeFields(into out: inout ByteBuffer, where isWanted: (UnsafeRawBufferPointer) -> Bool = { _ in true }) {
        // Most requests have Host first and nothing else that is written here.
        if places.host == 0, framing == .none, !expectsContinue {
            writeHost(into: &out)
            return fields.writeLines(into: &out, where: isWanted)
        }
        var (hasHost, hasFraming, hasExpect) = (false, false, false)
        fields.writeLines(
            into: &out,
            before: { number, out in
                if !hasHost, number >= places.host {
                    hasHost = true
                    writeHost(into: &out)
                }
                if !hasFraming, number >= places.framing {
                    hasFraming = true
                    writeFraming(into: &out)
                }
                if !hasExpect, number >= places.expect {
                    hasExpect = true
                    writeExpect(into: &out)
                }
            }, where: isWanted)
        if !hasHost { writeHost(into: &out) }
        if !hasFraming { writeFraming(into: &out) }
        if !hasExpect { writeExpect(into: &out) }
    }

    private func writeHost(into out: inout ByteBuffer) {
        out.writeStaticString("Host: ")
        out.writeString(host)
        out.writeStaticString("\r\n")
    }

    private func writeFraming(into out: inout ByteBuffer) {
        switch framing {
        case .none: break
        case .length(let count): out.writeString("Content-Length: \(count)\r\n")
        case .chunked: out.writeStaticString("Transfer-Encoding: chunked\r\n")
        }
    }

    private func writeExpect(into out: inout ByteBuffer) {
        if expectsContinue { out.writeStaticString("Expect: 100-continue\r\n") }
    }
}
