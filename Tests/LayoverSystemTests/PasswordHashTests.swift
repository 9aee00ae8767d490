import LayoverSystem
import Testing

/// Hashes of passwords, as the system's libcrypt computes them.
struct PasswordHashTests {
    private static let yescrypt = #"$y$j75$k2XAnEHBqQ1Ct2aMXFKNa/$Tg4ZRR7tz/WRlmYbADZh9OJYakPewgSPQqW55EXAJ14"#
    private static let bcrypt = #"$2b$04$KBCwKxOzLha2MUDgW0PjXe/hE/UCO9qF89dOydoHjSwxcHev5LRn."#
    private static let secret = Array("secret".utf8)

    @Test(arguments: [yescrypt, bcrypt, bcrypt.replacing("2b", with: "2y", maxReplacements: 1)])
    func knownHashMatchesItsPasswordAlone(text: String) throws {
        let hash = try PasswordHash(text)
        #expect(hash.matches(Self.secret))
        for wrong in ["", "Secret", "secret ", "secre", "\u{0}"] { #expect(!hash.matches(Array(wrong.utf8)), "\(wrong)") }
        #expect(!hash.matches([UInt8](repeating: 97, count: 600)))
    }

    @Test(arguments: ["x", "päss wörd:", String(repeating: "a", count: 511)])
    func madeHashMatchesItsPassword(password: String) throws {
        let bytes = Array(password.utf8)
        let hash = try PasswordHash(ofPassword: bytes)
        #expect(hash.text.hasPrefix("$y$"))
        #expect(try PasswordHash(hash.text) == hash)
        #expect(hash.matches(bytes))
        #expect(!hash.matches(bytes + [97]))
        #expect(try PasswordHash(ofPassword: bytes) != hash, "salted")
    }

    @Test(arguments: ["", String(repeating: "a", count: 512), "a\u{0}b"])
    func impossiblePasswordIsRefused(password: String) {
        #expect(throws: PasswordError.self) { try PasswordHash(ofPassword: Array(password.utf8)) }
    }

    @Test(arguments: [
        "", "secret", "*", "$1$abc$def", "$6$abc$def", "$y$", "$y$j9T$salt$short", "$y$j9T", String(yescrypt.dropLast()), yescrypt + "a",
        yescrypt.replacing("$j", with: "$k", maxReplacements: 1), "$2b$", String(bcrypt.dropLast()), bcrypt + "a",
        "$2x" + bcrypt.dropFirst(3),
        bcrypt.replacing("$04$", with: "$31$"), bcrypt.replacing("$04$", with: "$03$"), bcrypt.replacing("$04$", with: "$16$"),
        "$y$jFT" + yescrypt.dropFirst(6), yescrypt.dropLast() + "ä",
    ])
    func invalidHashIsRefused(text: String) {
        #expect(throws: PasswordError.self) { try PasswordHash(text) }
    }

    @Test func hashIsNeverShownWhole() throws {
        let hash = try PasswordHash(Self.bcrypt)
        #expect("\(hash)" == "bcrypt")
        #expect(String(reflecting: ["a": hash]).contains("$") == false)
    }
}
