import COpenSSL
import Glibc
package import NIOCore
package import NIOPosix
import Synchronization

/// The certificates of intercepted hosts: made when they are first asked for, kept, and made anew before they expire.
///
/// Each is for one name and has the one key of this process. May be called on any thread: the lock protects a dictionary, and a
/// certificate is signed on a thread of `threads`.
package final class LeafCertificates: Sendable {
    /// Certificates are valid from so long ago, for clients whose clock is behind. Default: 1 hour.
    static let backdatingSeconds = 60 * 60
    /// How long one is valid, backdating included: some clients refuse more. Default: 90 days.
    static let validitySeconds = 90 * 24 * 60 * 60
    /// Names whose certificates are kept; the one that was used least recently goes first. Default: 1000.
    package static let nameCountMax = 1000
    /// Names that may wait for their certificates at once; more are refused. Default: 4096.
    package static let pendingNameCountMax = 4096

    private struct Kept {
        var context: TLSServerContext
        var validity: ClosedRange<Int>
        /// When the certificate was used last, as a number of uses.
        var use: UInt64
    }

    private struct State {
        var authority: CertificateAuthority
        var kept: [LeafName: Kept] = [:]
        /// The promises that wait for the certificate of a name. They are completed together.
        var pending: [LeafName: [EventLoopPromise<TLSServerContext>]] = [:]
        var useCount: UInt64 = 0
    }

    private let state: Mutex<State>
    private let key: PrivateKey
    private let threads: NIOThreadPool
    private let supportsHTTP2: Bool
    private let now: @Sendable () -> Int

    /// - Parameters:
    ///   - threads: Where certificates are signed. It runs, and is stopped by the caller.
    ///   - supportsHTTP2: Whether the servers offer `h2`.
    ///   - now: The time, in seconds since 1970. Default: the wall clock.
    /// - Throws: `CertificateError` if there is no memory for a key.
    package init(
        authority: CertificateAuthority, threads: NIOThreadPool, supportsHTTP2: Bool,
        now: @escaping @Sendable () -> Int = { time(nil) }
    ) throws(CertificateError) {
        state = Mutex(State(authority: authority))
        key = try PrivateKey()
        (self.threads, self.supportsHTTP2, self.now) = (threads, supportsHTTP2, now)
    }

    /// The authority that signs.
    package var authority: CertificateAuthority { state.withLock { $0.authority } }

    /// Signs by another authority from now on.
    package func use(_ authority: CertificateAuthority) {
        state.withLock { state in
            state.authority = authority
            state.kept = [:]
        }
    }

    /// The context of a server with that name or address.
    ///
    /// Fails with `CertificateError`: `invalidName`, `tooMany`, or what OpenSSL refuses.
    package func context(for name: String, on eventLoop: any EventLoop) -> EventLoopFuture<TLSServerContext> {
        guard let name = LeafName(name) else {
            return eventLoop.makeFailedFuture(
                CertificateError(.invalidName, "No certificate can be made for this name: it is no host name."))
        }
        let now = now()
        enum Answer {
            case kept(TLSServerContext)
            case awaited(EventLoopFuture<TLSServerContext>, signs: CertificateAuthority?)
            case refused
        }
        let answer = state.withLock { state -> Answer in
            if let kept = state.kept[name], Self.isFresh(kept.validity, now: now) {
                state.useCount += 1
                state.kept[name]?.use = state.useCount
                return .kept(kept.context)
            }
            let isNew = state.pending[name] == nil
            if isNew, state.pending.count >= Self.pendingNameCountMax { return .refused }
            let promise = eventLoop.makePromise(of: TLSServerContext.self)
            state.pending[name, default: []].append(promise)
            return .awaited(promise.futureResult, signs: isNew ? state.authority : nil)
        }
        switch answer {
        case .kept(let context): return eventLoop.makeSucceededFuture(context)
        case .refused:
            return eventLoop.makeFailedFuture(
                CertificateError(.tooMany, "\(Self.pendingNameCountMax) names wait for a certificate already."))
        case .awaited(let future, let authority):
            if let authority { sign(name, by: authority, now: now) }
            return future
        }
    }

    /// Whether a third of its life is left. One that is not valid yet was made before the clock was set back.
    private static func isFresh(_ validity: ClosedRange<Int>, now: Int) -> Bool {
        validity.contains(now) && validity.upperBound - now >= validity.count / 3
    }

    private func sign(_ name: LeafName, by authority: CertificateAuthority, now: Int) {
        threads.submit { [self] status in
            do throws(CertificateError) {
                guard case .active = status else { throw CertificateError(.refused, "No more certificates are made: Layover stops.") }
                let validity = try Self.validity(now: now, authority: authority)
                let leaf = try make(name, by: authority, validity: validity)
                let context = try TLSServerContext(
                    chain: [leaf], key: key, identity: Array(authority.certificate.keyIdentifier.prefix(8)) + Self.digest(of: name),
                    supportsHTTP2: supportsHTTP2)
                switch keep(context, for: name, validity: validity, authority: authority) {
                case .kept(let waiting): for promise in waiting { promise.succeed(context) }
                case .outdated(let other): sign(name, by: other, now: now)
                }
            } catch {
                for promise in state.withLock({ $0.pending.removeValue(forKey: name) ?? [] }) { promise.fail(error) }
            }
        }
    }

    /// What becomes of a certificate that was made.
    private enum Landing {
        /// The certificate is given to those who waited for it.
        case kept([EventLoopPromise<TLSServerContext>])
        /// Another authority signs by now.
        case outdated(CertificateAuthority)
    }

    private func keep(
        _ context: TLSServerContext, for name: LeafName, validity: ClosedRange<Int>, authority: CertificateAuthority
    ) -> Landing {
        state.withLock { state in
            guard state.authority === authority else { return .outdated(state.authority) }
            state.useCount += 1
            state.kept[name] = Kept(context: context, validity: validity, use: state.useCount)
            if state.kept.count > Self.nameCountMax, let oldest = state.kept.min(by: { $0.value.use < $1.value.use })?.key {
                state.kept[oldest] = nil
            }
            return .kept(state.pending.removeValue(forKey: name) ?? [])
        }
    }

    private static func validity(now: Int, authority: CertificateAuthority) throws(CertificateError) -> ClosedRange<Int> {
        let start = now - backdatingSeconds
        // Both ends belong to it.
        let end = min(start + validitySeconds - 1, authority.notAfter)
        guard end > now else { throw CertificateError(.expired, "The certificate authority has expired.") }
        return start...end
    }

    /// The most bytes of a common name (RFC 5280, ub-common-name).
    private static let commonNameByteCountMax = 64

    private func make(
        _ name: LeafName, by authority: CertificateAuthority, validity: ClosedRange<Int>
    ) throws(CertificateError) -> Certificate {
        let draft = try CertificateDraft(key: key, validity: validity)
        let hasSubject = name.text.utf8.count <= Self.commonNameByteCountMax
        if hasSubject { try draft.addSubject(NID_commonName, name.text) }
        try draft.add(NID_basic_constraints, "critical,CA:FALSE")
        try draft.add(NID_key_usage, "critical,digitalSignature")
        try draft.add(NID_ext_key_usage, "serverAuth")
        try draft.add(NID_subject_key_identifier, "hash")
        // Copied from the authority's subjectKeyIdentifier.
        try draft.add(NID_authority_key_identifier, "keyid:always", issuer: authority.certificate)
        // RFC 5280 section 4.2.1.6: critical where the subject is empty.
        try draft.add(name, isCritical: !hasSubject)
        return try draft.signed(by: authority.key, issuer: authority.certificate)
    }

    private static func digest(of name: LeafName) -> [UInt8] { Array(Certificate.digest(of: Array(name.text.utf8)).prefix(24)) }
}
