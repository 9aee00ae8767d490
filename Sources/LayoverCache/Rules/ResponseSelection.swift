import LayoverCore

/// The request fields by which a response was selected (RFC 9111 section 4.1).
struct VarySelection: Sendable, Equatable {
    /// In lower case and in order, each once.
    let names: [String]

    /// Nil for `Vary: *`: no other request ever matches.
    init?(_ response: ResponseFacts) {
        let members = response.fields.texts("vary").flatMap { ListText.members(of: $0) }.map { $0.lowercased() }
        guard !members.contains("*") else { return nil }
        names = Set(members).sorted()
    }

    init(names: [String]) { self.names = names }

    /// What the fields of a request say, so that equal bytes mean a match. Several lines of a name are one list, and
    /// white space around members says nothing; an absent field differs from an empty one.
    func canonical(of request: RequestFacts) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in names {
            let values = request.fields.values(name)
            bytes += Array(name.utf8) + [values.isEmpty ? 0 : 1]
            bytes += values.flatMap(Self.members).joined(separator: [UInt8(ascii: ",")])
            bytes.append(0)
        }
        return bytes
    }

    private static func members(of value: [UInt8]) -> [[UInt8]] {
        value.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false).map { member in
            let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
            return Array(member.drop(while: isSpace).reversed().drop(while: isSpace).reversed())
        }
    }
}

/// With whose credentials a response was asked for (decision 0016).
enum Credentials {
    /// The credentials of a request, so that equal bytes mean the same credentials; nil if the request has none. Secret: only
    /// a keyed digest of them is kept.
    static func canonical(of request: RequestFacts) -> [UInt8]? {
        var bytes: [UInt8] = []
        for name in CredentialFields.ofRequests {
            for value in request.fields.values(name) {
                bytes += Array(name.utf8) + [0] + value + [0]
            }
        }
        return bytes.isEmpty ? nil : bytes
    }
}
