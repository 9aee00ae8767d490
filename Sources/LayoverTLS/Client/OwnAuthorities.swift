import COpenSSL
import Synchronization

/// The authorities of this process. None of their certificates is accepted from a server, wherever they are trusted besides.
///
/// `layover ca trust` puts the authority into the system's store, and Layover may run with the variables of `layover env --ca`. If it
/// believed them, an interceptor that has the key would stand between it and the origin unseen, another Layover first of all. By key,
/// because a new certificate of the same authority would have another fingerprint.
package enum OwnAuthorities {
    /// Written when an authority is opened, read in each handshake.
    private static let keys = Mutex<Set<PublicKeyDigest>>([])

    /// From now on.
    package static func distrust(_ authority: CertificateAuthority) { keys.withLock { _ = $0.insert(authority.publicKey) } }

    /// Makes connections of an SSL_CTX refuse them, beside what else it verifies (SSL_CTX_set_verify(3)).
    package static func refuse(in context: OpaquePointer) { SSL_CTX_set_verify(context, SSL_VERIFY_PEER, verify) }

    /// Called for each certificate of the chain.
    private static let verify: @convention(c) (CInt, OpaquePointer?) -> CInt = { isAccepted, store in
        guard isAccepted == 1, let store, let certificate = X509_STORE_CTX_get_current_cert(store) else { return isAccepted }
        let isOwn = keys.withLock { keys in
            !keys.isEmpty && keys.contains(PublicKeyDigest(bytes: Certificate.keyDigest(of: certificate)))
        }
        guard isOwn else { return 1 }
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
        return 0
    }
}
