import LayoverCore

/// Why a name has no addresses.
enum NameFailure: Sendable, Hashable {
    /// The name does not exist: NXDOMAIN, or no source of names has it (RFC 8020, nsswitch.conf(5)).
    case unknown
    /// The name exists, but without an address (EAI_NODATA). Unlike `unknown` this depends on the families
    /// that this machine uses, so it proves less.
    case noAddress
    /// No resolver answered: none is configured, none can be reached, or all are silent.
    case noResolver
    /// A resolver answered that it cannot or will not find out.
    case refused
    /// The system failed while it looked; errno or a code of getaddrinfo(3).
    case system(Int32)
    /// Too many names wait already.
    case busy

    var kind: FailureKind { self == .busy ? .dnsTimeout : .dnsError }

    func message(about name: String) -> String {
        switch self {
        case .unknown: "The name \(name) does not exist."
        case .noAddress: "The name \(name) exists but has no address."
        case .noResolver: "The name \(name) could not be resolved: no resolver answered."
        case .refused: "The name \(name) could not be resolved: the resolver reported a failure."
        case .system(let code): "The name \(name) could not be resolved: system error \(code)."
        case .busy: "The name \(name) could not be resolved: the resolver is busy."
        }
    }
}
