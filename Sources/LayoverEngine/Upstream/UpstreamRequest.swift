package import LayoverCore
package import LayoverHTTP
import LayoverText
package import NIOCore

/// One request as it goes upstream: the same value for the first attempt and for every replay.
package struct UpstreamRequest: Sendable {
    package typealias Purpose = RequestPurpose

    package var purpose: Purpose
    package var origin: Origin
    /// The method token as the client sent it.
    package var method: String
    /// The request target as it stands in the request line upstream: path and query byte for byte, or `*`.
    package var target: String
    /// The value of the Host field.
    package var host: String
    /// The fields to send besides Host and framing.
    package var fields: RequestFields
    /// Where Host, framing and `Expect` stand among them. Not stored: after a restart Host is first and the others are last.
    package var places = FieldPlaces()
    package var framing: BodyFraming
    /// Nil exactly when `framing` is `none`.
    package var body: CapturedBody?
    /// Whether the client waits for `100 (Continue)`. The field goes upstream too.
    package var expectsContinue: Bool
    /// Whether sending it twice does no harm, as `Repeatability` has it for the attempts that begin from now on. Otherwise the
    /// upstream must make a second sending impossible.
    package var mayBeSentTwice: Bool
    package var timeouts: AttemptTimeouts
    /// Addresses that may be reached although they are refused by default: literals or `address/prefix`.
    package var allowAddresses: [String]
    /// Whether HTTP/2 is offered to an `https` origin. One that does not take it gets HTTP/1.1. Default: false.
    package var supportsHTTP2: Bool
    /// The parent proxy through which the request goes. Nil: it goes through none. Default: nil.
    package var parentProxy: ParentProxy?

    package init(
        purpose: Purpose, origin: Origin, method: String, target: String, host: String,
        fields: RequestFields, framing: BodyFraming = .none, body: CapturedBody? = nil,
        expectsContinue: Bool = false, mayBeSentTwice: Bool,
        timeouts: AttemptTimeouts = .init(), allowAddresses: [String] = [], supportsHTTP2: Bool = false, parentProxy: ParentProxy? = nil
    ) {
        self.purpose = purpose
        self.origin = origin
        self.method = method
        self.target = target
        self.host = host
        self.fields = fields
        self.framing = framing
        self.body = body
        self.expectsContinue = expectsContinue
        self.mayBeSentTwice = mayBeSentTwice
        self.timeouts = timeouts
        self.allowAddresses = allowAddresses
        self.supportsHTTP2 = supportsHTTP2
        self.parentProxy = parentProxy
    }

    /// Whether a field holds credentials. Reads all fields, so only for requests that are held.
    package var carriesCredentials: Bool {
        fields.contains { CredentialFields.ofRequests.contains($0.name.lowercased()) }
    }
}

/// Without its fields.
extension UpstreamRequest: CustomStringConvertible {
    package var description: String {
        "\(method) \(MaskedURL.text(origin.description + target)), \(fields)"
    }
}

extension UpstreamRequest {
    /// Whether the request can be written into a request head without becoming another request.
    ///
    /// The proxy's parser lets nothing else through; requests also come from the store and from the
    /// admin API, and libcurl would interpret a host's percent signs and userinfo.
    package var isAcceptable: Bool {
        Self.isHost(origin.host) && (1...65535).contains(origin.port)
            && Self.isVisible(method) && Self.isVisible(target)
            && host.allBytes { $0 > 0x20 && $0 != 0x7F }
            && (framing == .none) == (body == nil)
    }

    private static func isVisible(_ text: String) -> Bool {
        !text.isEmpty && text.allBytes { $0 > 0x20 && $0 != 0x7F }
    }

    /// A name, an IPv4 address or an IPv6 literal without a zone. All ASCII: libcurl would turn anything else
    /// into a name that our resolver was not asked for (RFC 5891).
    private static func isHost(_ host: String) -> Bool {
        guard !host.isEmpty, host.utf8.count <= 255 else { return false }
        if !host.allBytes({ $0 != UInt8(ascii: ":") }) {
            return host.allBytes {
                Hexadecimal.value(of: $0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
            }
        }
        var host = host
        return host.withUTF8 { bytes in
            PercentCoding.unreservedEnd(0..<bytes.count, in: UnsafeRawBufferPointer(bytes)) == bytes.count
        }
    }
}

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
