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
