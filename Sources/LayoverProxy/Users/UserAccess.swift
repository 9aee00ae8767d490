import LayoverCore
import LayoverEngine
import LayoverHTTP
import LayoverSystem
import NIOCore

/// The users who may use the proxy port, as one loop knows them. Confined to its loop.
final class UserAccess {
    enum Verdict {
        case admitted(UserCount)
        /// Name and password are missing or wrong.
        case refused
        /// The password has to be checked.
        case unknown(ProxyCredential)
    }

    /// Most credentials that are remembered as admitted, and most as refused. At the limit all of that kind are forgotten, and are
    /// checked again. Default: 1024.
    private static let resultCountMax = 1024

    let hashes: [String: PasswordHash]
    private let checks: PasswordChecks
    private let counts: [String: UserCount]
    /// By digest.
    private var admitted: [[UInt8]: UserCount] = [:]
    private var refused: Set<[UInt8]> = []

    /// - Returns: Nil: there are no users, and every client is let in.
    init?(_ hashes: [String: PasswordHash], checks: PasswordChecks, metrics: LoopMetrics) {
        let counts = metrics.countUsers(Array(hashes.keys))
        guard !hashes.isEmpty else { return nil }
        (self.hashes, self.checks, self.counts) = (hashes, checks, counts)
    }

    func verdict(on head: RequestHead) -> Verdict {
        let values = head.fields.values(of: "Proxy-Authorization")
        guard values.count == 1, let credential = ProxyCredential(head.fields.string(values[0]), key: checks.key) else { return .refused }
        if let user = admitted[credential.digest] { return .admitted(user) }
        if refused.contains(credential.digest) { return .refused }
        return .unknown(credential)
    }

    /// Finds out about a credential, and remembers it.
    ///
    /// Fails with `PasswordChecks.Busy`.
    ///
    /// - Parameter address: Of the client, without its port.
    func check(_ credential: ProxyCredential, from address: String, on eventLoop: any EventLoop) -> EventLoopFuture<Verdict> {
        let user = counts[credential.name]
        // A name that is not known takes as long: nobody finds out names by time.
        let standIn = hashes.min { $0.key < $1.key }?.value
        guard let hash = hashes[credential.name] ?? standIn else { return eventLoop.makeSucceededFuture(.refused) }
        return checks.check(credential, against: hash, from: address, on: eventLoop).assumeIsolated().map { isRight in
            self.remember(credential, isRight ? user : nil)
        }.nonisolated()
    }

    /// How long the refusal of a credential that was just checked is delayed.
    func refusalDelay(from address: String, at now: Timestamp) -> Duration { checks.refusalDelay(from: address, at: now) }

    private func remember(_ credential: ProxyCredential, _ user: UserCount?) -> Verdict {
        guard let user else {
            if refused.count >= Self.resultCountMax { refused = [] }
            refused.insert(credential.digest)
            return .refused
        }
        if admitted.count >= Self.resultCountMax { admitted = [:] }
        admitted[credential.digest] = user
        return .admitted(user)
    }
}

/// Name and password of a client, from `Proxy-Authorization: Basic` (RFC 7617 section 2).
struct ProxyCredential: Sendable {
    let name: String
    let password: [UInt8]
    /// What stands for both in tables: nobody gets from it back to the password.
    let digest: [UInt8]

    /// - Parameters:
    ///   - value: The value of the field.
    ///   - key: Of the digest.
    /// - Returns: Nil where the field is of another scheme, or cannot be read.
    init?(_ value: String, key: SymmetricKey) {
        guard let parts = Self.parts(of: value), let digest = try? HMACSHA256.code(for: parts.bytes, using: key) else { return nil }
        name = parts.name
        password = Array(parts.bytes.dropFirst(parts.name.utf8.count + 1))
        self.digest = digest
    }

    static func parts(of value: String) -> (name: String, bytes: [UInt8])? {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2, words[0].lowercased() == "basic",
            let bytes = Base64.bytes(words[1].drop { $0 == " " }),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let name = String(validating: bytes[..<colon], as: UTF8.self)
        else { return nil }
        return (name, bytes)
    }
}
