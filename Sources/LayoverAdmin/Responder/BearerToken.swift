import LayoverCore

/// The admin token, compared without telling by time how much of a guess was right.
struct BearerToken: Sendable {
    private let token: Secret

    init(_ token: Secret) { self.token = token }

    /// - Parameter field: The value of Authorization (RFC 6750 section 2.1).
    func admits(_ field: String?) -> Bool {
        guard let field, let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer"
        else {
            return false
        }
        let bytes = Array(token.revealed.utf8)
        let guess = Array(field[space...].drop { $0 == " " }.utf8)
        var difference = UInt(bitPattern: bytes.count ^ guess.count)
        for (index, byte) in guess.enumerated() where !bytes.isEmpty {
            difference |= UInt(byte ^ bytes[index % bytes.count])
        }
        return difference == 0
    }
}
