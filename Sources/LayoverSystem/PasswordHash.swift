import CCrypt

#if canImport(Glibc)
import Glibc
#endif

/// The stored form of a password: a salted hash that is slow to compute on purpose (crypt(5)).
///
/// Two methods are taken: yescrypt (`$y$…`) and bcrypt (`$2a$`, `$2b$`, `$2y$`). The system's libcrypt computes both.
package struct PasswordHash: Sendable, Hashable {
    /// The hash as crypt(5) writes it.
    package let text: String

    package enum Method: String, Sendable {
        case yescrypt, bcrypt
    }

    package var method: Method { text.hasPrefix("$y$") ? .yescrypt : .bcrypt }

    /// Highest cost of bcrypt; one more doubles the time of a check, and 15 takes some seconds.
    package static let costMax = 15

    /// - Throws: Why the text is no hash of one of the two methods. The message does not repeat it.
    package init(_ text: String) throws(PasswordError) {
        if text.hasPrefix("$y$") {
            try Self.checkYescrypt(text)
        } else if ["$2a$", "$2b$", "$2y$"].contains(where: text.hasPrefix) {
            try Self.checkBcrypt(text)
        } else {
            throw PasswordError(
                "expected a yescrypt ($y$) or bcrypt ($2b$) hash; `layover user add` makes one")
        }
        self.text = text
    }

    /// Makes a hash with a new salt, by yescrypt with the cost that the system takes for its own users.
    ///
    /// - Parameter password: 1 to 511 bytes without NUL.
    package init(ofPassword password: [UInt8]) throws(PasswordError) {
        try Self.check(password)
        guard let setting = crypt_gensalt_ra("$y$", 0, nil, 0) else {
            throw PasswordError("libcrypt cannot make a salt")
        }
        defer { free(setting) }
        try self.init(Self.hash(password, String(cString: setting)))
    }

    /// Whether the password is the one of this hash. Takes the calling thread tens of milliseconds, or some seconds with the highest cost.
    package func matches(_ password: [UInt8]) -> Bool {
        guard (try? Self.check(password)) != nil, let made = try? Self.hash(password, text) else {
            return false
        }
        return ConstantTime.isEqual(Array(made.utf8), Array(text.utf8))
    }

    /// Longest password, in bytes: libcrypt counts a NUL at its end (`CRYPT_MAX_PASSPHRASE_SIZE`).
    package static let passwordByteCountMax = Int(CRYPT_MAX_PASSPHRASE_SIZE) - 1

    package static func check(_ password: [UInt8]) throws(PasswordError) {
        guard !password.isEmpty else { throw PasswordError("the password is empty") }
        guard password.count <= passwordByteCountMax else {
            throw PasswordError("the password has more than \(passwordByteCountMax) bytes")
        }
        guard !password.contains(0) else { throw PasswordError("the password contains a NUL byte") }
    }

    /// crypt_ra(3): reentrant, with memory of its own for each call.
    private static func hash(_ password: [UInt8], _ setting: String) throws(PasswordError) -> String {
        var memory: UnsafeMutableRawPointer?
        var byteCount: CInt = 0
        let phrase = password.map { CChar(bitPattern: $0) } + [0]
        let made = crypt_ra(phrase, setting, &memory, &byteCount)
        defer {
            // The password is in there.
            if let memory { explicit_bzero(memory, Int(byteCount)) }
            free(memory)
        }
        guard let made, made.pointee != CChar(bitPattern: UInt8(ascii: "*")) else {
            throw PasswordError("libcrypt does not know this hash")
        }
        return String(cString: made)
    }

    // MARK: Form

    private static func checkYescrypt(_ text: String) throws(PasswordError) {
        // $y$ parameters $ salt $ hash
        let parts = text.dropFirst(3).split(separator: "$", omittingEmptySubsequences: false)
        let isSound =
            parts.count == 3 && parts[0].utf8.count >= 2 && (1...86).contains(parts[1].utf8.count)
            && parts[2].utf8.count == 43
            && parts.allSatisfy(isInAlphabet)
        guard isSound else { throw PasswordError("the yescrypt hash is incomplete or changed") }
        // The three characters are the kind, the cost and the size of a block. The system's own parameters are `j9T`, which take 16 MiB.
        // Each step of the cost doubles the memory.
        let parameters = Array(parts[0].utf8)
        guard parameters.count == 3, parameters[0] == UInt8(ascii: "j"), parameters[1] <= UInt8(ascii: "D"),
            parameters[2] <= UInt8(ascii: "T")
        else { throw PasswordError("the parameters of the yescrypt hash must be at most jDT (256 MiB)") }
    }

    private static func checkBcrypt(_ text: String) throws(PasswordError) {
        // $2b$ cost $ 22 characters of salt and 31 of the hash
        let parts = text.dropFirst(4).split(separator: "$", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 2, let cost = Int(parts[0]), parts[1].utf8.count == 53,
            isInAlphabet(parts[1])
        else {
            throw PasswordError("the bcrypt hash is incomplete or changed")
        }
        guard (4...costMax).contains(cost) else {
            throw PasswordError("the cost of the bcrypt hash must be 4 to \(costMax)")
        }
    }

    private static func isInAlphabet(_ text: Substring) -> Bool {
        text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: ".")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"):
                true
            default: false
            }
        }
    }
}

/// Never shown whole.
extension PasswordHash: CustomStringConvertible, CustomReflectable {
    package var description: String { method.rawValue }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why a password or a hash cannot be used; `description` begins in lower case and holds neither.
package struct PasswordError: Error, Sendable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
