package import LayoverTLS

/// A place where programs look for the authorities that they trust.
package protocol TrustStore: Sendable {
    var kind: TrustStoreKind { get }
    /// A path: two stores of one kind have two of them.
    var place: String { get }
    /// Whether the system copies its own store into this one.
    var followsSystem: Bool { get }

    func presence(of certificate: Certificate) -> TrustPresence

    /// Adds it. Called only where it is absent.
    func add(_ certificate: Certificate) throws(TrustObstacle)

    /// Removes it, and no other. Called only where it is there.
    func remove(_ certificate: Certificate) throws(TrustObstacle)

    /// What has to be run for it by hand, or would be run.
    func linesToAdd(_ certificate: Certificate, file: String) -> [String]
    func linesToRemove(_ certificate: Certificate) -> [String]
}

extension TrustStore {
    package var followsSystem: Bool { false }
}

package enum TrustStoreKind: String, Sendable, CaseIterable {
    /// The bundle of the system, which OpenSSL, GnuTLS and through them most programs read.
    case system
    /// A database of NSS: Chromium and Firefox.
    case nss
    /// The trust store of a Java runtime.
    case java
}

package enum TrustPresence: Sendable, Hashable {
    case trusted
    case absent
    /// It cannot be found out, with the reason.
    case unknown(String)
}

/// Why a store was not changed.
package enum TrustObstacle: Error, Sendable, Hashable {
    /// The change takes rights that this process does not have.
    case needsRoot
    /// A program is missing; the Debian package that has it.
    case missing(program: String, package: String)
    case failed(String)
}
