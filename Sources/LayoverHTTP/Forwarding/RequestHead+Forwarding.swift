import NIOCore

extension RequestHead {
    /// Appends the fields to forward: bytes, order and duplicates as they came.
    ///
    /// Left out are: hop-by-hop fields and those that `Connection` nominates (RFC 9110 section
    /// 7.6.1); `Host`, `Content-Length` and `Expect`, which belong to the sender of the next
    /// message; `Layover-*`; and `Via`, see `writeVia(into:own:)`. `Max-Forwards` of OPTIONS and
    /// TRACE is written one less. Of `TE` only the wish for trailers goes on (`TrailersWish`).
    ///
    /// - Returns: Where the fields stood that belong to the sender of the next message.
    @discardableResult
    package func writeForwardedFields(
        into out: inout RequestFields, options: ForwardingOptions = .init()
    ) -> FieldPlaces {
        let nominated = nominatedNames
        var places = FieldPlaces()
        var count = 0
        _ = bytes.withUnsafeReadableBytes { bytes in
            // A line that came as `name:value CRLF` leaves as `name: value NUL` or shorter, so the
            // lines never need more than the head did.
            out.lines.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count) { memory in
                var writer = FieldLineWriter(memory)
                for field in fields.ranges {
                    if drops(field.known, options) || nominated.contains(field, in: bytes) {
                        places.note(field.known, at: count)
                        continue
                    }
                    if !options.removedNames.isEmpty,
                        options.removedNames.contains(where: {
                            ByteText.equalsIgnoringCase($0, in: bytes, field.name)
                        })
                    {
                        continue
                    }
                    writer.writeField(field, of: bytes)
                    count += 1
                }
                return writer.byteCount
            }
        }
        writeMaxForwards(into: &out)
        TrailersWish.write(of: self, into: &out, removedNames: options.removedNames)
        if options.keepsUpgrade, upgradeRequested { out.append("Connection", "Upgrade") }
        return places
    }

    private func drops(_ known: KnownField, _ options: ForwardingOptions) -> Bool {
        if known == .other { return false }
        if known == .upgrade { return !(options.keepsUpgrade && upgradeRequested) }
        if known == .prefer { return !options.keepsPrefer }
        if known == .maxForwards { return maxForwards != nil }
        if known == .expect { return !passesExpectOn }
        return Self.neverForwarded.contains(known)
    }

    private static let neverForwarded = KnownField.hopByHop.union(
        KnownFieldSet(.host, .contentLength, .expect, .layover, .via))

    /// RFC 9110 section 7.6.2. A request with 0 is not forwarded at all; should it be, 0 stays 0.
    private func writeMaxForwards(into out: inout RequestFields) {
        guard let maxForwards else { return }
        out.append("Max-Forwards", String(max(maxForwards - 1, 0)))
    }

    private var nominatedNames: NominatedNames {
        var names = NominatedNames()
        guard nominatesFields else { return names }
        bytes.withUnsafeReadableBytes { bytes in
            for field in fields.ranges where field.known == .connection {
                names.read(field.value, in: bytes)
            }
        }
        return names
    }
}

extension FieldBlock {
    /// All fields as they are forwarded; nil when there are none. For trailers, whose forbidden fields the decoder has
    /// left out already.
    package var forwardedTrailers: RequestFields? {
        guard !isEmpty else { return nil }
        var out = RequestFields()
        _ = bytes.withUnsafeReadableBytes { bytes in
            // See `RequestHead.writeForwardedFields`: no line grows.
            out.lines.writeWithUnsafeMutableBytes(minimumWritableBytes: bytes.count) { memory in
                var writer = FieldLineWriter(memory)
                for field in ranges { writer.writeField(field, of: bytes) }
                return writer.byteCount
            }
        }
        return out
    }
}

/// What a caller may change about the fields that are forwarded.
package struct ForwardingOptions: Sendable {
    /// Whether `Upgrade` goes on, with a `Connection: Upgrade` of ours. Default: false.
    package var keepsUpgrade = false

    /// Whether `Prefer` goes on. False once we honour it ourselves. Default: true.
    package var keepsPrefer = true

    /// More names that do not go on. They may have any case. Default: none.
    package var removedNames: [[UInt8]] = []

    package init() {}
}

/// Writes the lines of `RequestFields` from those of a head or a trailer section.
///
/// The memory must hold what is written; see the callers for why it does.
struct FieldLineWriter {
    private let memory: UnsafeMutableRawBufferPointer
    private(set) var byteCount = 0

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    @inline(__always)
    mutating func writeField(_ field: FieldRange, of bytes: UnsafeRawBufferPointer) {
        write(bytes, field.name)
        write(ASCII.colon)
        write(ASCII.space)
        write(bytes, field.value)
        write(0)
    }

    @inline(__always)
    mutating func write(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        UnsafeMutableRawBufferPointer(rebasing: memory[byteCount...])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        byteCount &+= range.count
    }

    @inline(__always)
    mutating func write(_ byte: UInt8) {
        memory[byteCount] = byte
        byteCount &+= 1
    }
}

/// Places of the fields that the proxy writes itself (`Host`, framing, `Expect`): for each, the number of forwarded fields before it.
///
/// They count the fields that `RequestHead.writeForwardedFields` writes. A later change of these fields only moves the places.
package struct FieldPlaces: Sendable, Hashable {
    /// Default: before all others (RFC 9110 section 7.2 recommends that).
    package var host: UInt16 = 0
    /// Of Content-Length or Transfer-Encoding. Default: behind all others.
    package var framing = UInt16.max
    /// Of `Expect`. Default: behind all others.
    package var expect = UInt16.max

    package init(host: UInt16 = 0, framing: UInt16 = .max, expect: UInt16 = .max) {
        self.host = host
        self.framing = framing
        self.expect = expect
    }

    mutating func note(_ field: KnownField, at count: Int) {
        let place = UInt16(clamping: count)
        switch field {
        case .host: host = place
        case .contentLength, .transferEncoding: framing = min(framing, place)
        case .expect: expect = min(expect, place)
        default: break
        }
    }
}
