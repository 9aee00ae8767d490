import COpenSSL
import Glibc
import Synchronization

/// The authorities of this process. None of their certificates is accepted from a server, wherever they are trusted besides.
///
/// `layover ca trust` puts the authority into the system's store, and Layover may run with the variables of `layover env --ca`. If it
/// believed them, an interceptor that has the key would stand between it and the origin unseen, another Layover first of all. By key,
/// because a new certificate of the same authority would have another fingerprint.
package enum OwnAuthorities {
    private struct State {
        var keys: Set<PublicKeyDigest> = []
        /// The certificates that count when they are there, and what stat(2) said of each when it was read last.
        var files: [String: FileState] = [:]
    }

    private struct FileState: Equatable {
        var inode: ino_t = 0
        var size: off_t = 0
        var modified = timespec()

        static func == (lhs: Self, rhs: Self) -> Bool {
            (lhs.inode, lhs.size) == (rhs.inode, rhs.size)
                && (lhs.modified.tv_sec, lhs.modified.tv_nsec) == (rhs.modified.tv_sec, rhs.modified.tv_nsec)
        }
    }

    /// Read in each handshake.
    private static let state = Mutex(State())

    /// From now on.
    package static func distrust(_ authority: CertificateAuthority) { state.withLock { _ = $0.keys.insert(authority.publicKey) } }

    /// Distrusts the authority of a folder from now on, even if its key cannot be used, and even if the authority is made later:
    /// `layover ca init` needs no running Layover.
    ///
    /// - Parameter folder: The folder of the authority.
    package static func distrust(folder: String) {
        state.withLock { state in
            let file = folder + "/" + CertificateAuthority.certificateFileName
            if state.files[file] == nil { state.files[file] = FileState() }
        }
    }

    /// Whether a certificate has the key of one of these authorities. Files that have changed since they were read last are read again.
    private static func contains(_ certificate: OpaquePointer) -> Bool {
        state.withLock { state in
            for (file, before) in state.files {
                var facts = stat()
                guard stat(file, &facts) == 0 else { continue }
                let now = FileState(inode: facts.st_ino, size: facts.st_size, modified: facts.st_mtim)
                guard now != before else { continue }
                state.files[file] = now
                guard let contents = try? PEMFile.contents(of: file), let chain = try? Certificate.chain(in: contents, file: file)
                else { continue }
                state.keys.formUnion(chain.map { PublicKeyDigest($0) })
            }
            return !state.keys.isEmpty && state.keys.contains(PublicKeyDigest(bytes: Certificate.keyDigest(of: certificate)))
        }
    }

    /// Makes connections of an SSL_CTX refuse them, beside what else it verifies (SSL_CTX_set_verify(3)).
    package static func refuse(in context: OpaquePointer) { SSL_CTX_set_verify(context, SSL_VERIFY_PEER, verify) }

    /// Called for each certificate of the chain.
    private static let verify: @convention(c) (CInt, OpaquePointer?) -> CInt = { isAccepted, store in
        guard isAccepted == 1, let store, let certificate = X509_STORE_CTX_get_current_cert(store) else { return isAccepted }
        guard contains(certificate) else { return 1 }
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)
        return 0
    }
}
