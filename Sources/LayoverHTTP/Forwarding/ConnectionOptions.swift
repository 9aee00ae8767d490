import NIOCore

/// What the `Connection` fields of a message say (RFC 9110 section 7.6.1).
struct ConnectionOptions: Sendable {
    private(set) var closes = false
    private(set) var keepsAlive = false
    private(set) var upgrades = false
    /// Whether fields are nominated that are not hop-by-hop anyway. Rarely true, so the fast path
    /// need not make a set of names.
    private(set) var nominatesOthers = false
    /// Whether a field is nominated that says where a request goes, where it ends or who sends it.
    private(set) var nominatesEssentials = false

    /// Adds what one field value says. Members that are no tokens can name no field.
    mutating func read(_ value: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        for member in ListMembers(value, in: bytes) {
            if ByteText.equalsIgnoringCase("close", in: bytes, member) {
                closes = true
            } else if ByteText.equalsIgnoringCase("keep-alive", in: bytes, member) {
                keepsAlive = true
            } else {
                switch KnownField.recognise(bytes, member) {
                case .upgrade: upgrades = true
                case let known where KnownField.refusedInNomination.contains(known):
                    nominatesEssentials = true
                case let known where KnownField.hopByHop.contains(known): break
                case let known where KnownField.protectedFromNomination.contains(known): break
                default: nominatesOthers = true
                }
            }
        }
    }
}

/// The field names that `Connection` fields nominate as hop-by-hop, in lower case.
///
/// A set, so that a thousand names against a thousand fields stay cheap; its size is bounded by
/// that of the head.
struct NominatedNames: Sendable {
    private var names: Set<[UInt8]> = []

    var isEmpty: Bool { names.isEmpty }

    mutating func read(_ value: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        for member in ListMembers(value, in: bytes) {
            names.insert(Self.key(member, in: bytes))
        }
    }

    /// Whether the field must go because it was nominated.
    func contains(_ field: FieldRange, in bytes: UnsafeRawBufferPointer) -> Bool {
        !names.isEmpty && !KnownField.protectedFromNomination.contains(field.known)
            && names.contains(Self.key(field.name, in: bytes))
    }

    private static func key(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) -> [UInt8] {
        range.map { ByteClass.lowercased(bytes[$0]) }
    }
}

/// `TE: trailers`, by which a client says that trailers reach it (RFC 9110 section 10.1.4).
///
/// TE concerns one connection only. Trailers of a response go on to the client, so its wish is ours, and it is
/// written anew: the transfer codings that TE may list as well end here, and `Connection` names the field.
package enum TrailersWish {
    /// Appends the two fields, if the client has the wish.
    ///
    /// A client of HTTP/1.0 gets no chunks, and so no trailers.
    static func write(of head: RequestHead, into out: inout RequestFields, removedNames: [[UInt8]]) {
        guard head.fields.contains(.te), head.version != .http10, isStated(in: head.fields) else { return }
        guard !removedNames.contains(where: { $0.map(ByteClass.lowercased) == Array("te".utf8) }) else { return }
        for (name, value) in fields { out.append(name, value) }
    }

    private static let fields = [("TE", "trailers"), ("Connection", "TE")]

    /// Whether `trailers` is a member; it has no weight.
    private static func isStated(in fields: FieldBlock) -> Bool {
        fields.bytes.withUnsafeReadableBytes { bytes in
            fields.values(.te).contains { value in
                ListMembers(value, in: bytes).contains { ByteText.equalsIgnoringCase("trailers", in: bytes, $0) }
            }
        }
    }

    /// The fields of `writeForwardedFields` without the wish, for a response whose trailers reach nobody.
    package static func removed(from forwarded: RequestFields) -> RequestFields {
        var kept = forwarded
        kept.removeAll { field in
            fields.contains { name, value in field.line.readableBytesView.elementsEqual("\(name): \(value)".utf8) }
        }
        return kept
    }
}

/// The members of a comma-separated list (RFC 9110 section 5.6.1), without white space and without
/// empty ones. Quoted strings are not looked at: the lists read here are lists of tokens.
struct ListMembers: Sequence, IteratorProtocol {
    private let bytes: UnsafeRawBufferPointer
    private var offset: Int
    private let end: Int

    init(_ range: Range<Int>, in bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        offset = range.lowerBound
        end = range.upperBound
    }

    mutating func next() -> Range<Int>? {
        while offset < end {
            let comma = ByteScan.first(ASCII.comma, in: bytes, offset..<end) ?? end
            let member = ByteScan.trimmed(offset..<comma, in: bytes)
            offset = Swift.min(comma &+ 1, end)
            if !member.isEmpty { return member }
        }
        return nil
    }
}
