import LayoverCore
import LayoverCrypto

/// The admin token, compared in constant time.
struct BearerToken: Sendable {
    private let token: Secret

    init(_ token: Secret) { self.token = token }

    /// - Parameter field: The value of Authorization (RFC 6750 section 2.1).
    func admits(_ field: String?) -> Bool {
        guard let field, let space = field.firstIndex(of: " "), field[..<space].lowercased() == "bearer"
        else {
            return false
        }
        return ConstantTime.isEqual(
            Array(field[space...].drop { $0 == " " }.utf8), Array(token.revealed.utf8))
    }
}
