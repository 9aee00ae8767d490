/// One thing that a policy may list under `retryOn`.
package enum RetryCondition: Sendable, Hashable {
    /// All of `dns`, `connect`, `timeout`, `reset` and `tlsHandshake`.
    case connectivity
    case dns, connect, timeout, reset, tlsHandshake
    /// One error type of RFC 9209.
    case errorType(FailureKind)
    /// A response with this status.
    case status(Int)

    /// Reads a value of the configuration; nil if the value is no condition.
    package init?(_ word: String) {
        switch word {
        case "connectivity": self = .connectivity
        case "dns": self = .dns
        case "connect": self = .connect
        case "timeout": self = .timeout
        case "reset": self = .reset
        case "tls-handshake": self = .tlsHandshake
        default:
            if let kind = FailureKind(rawValue: word), kind != .httpResponseStatus, kind != .outcomeUnknown {
                self = .errorType(kind)
            } else if let status = Int(word), (100...599).contains(status) {
                self = .status(status)
            } else {
                return nil
            }
        }
    }

    /// The word as the configuration spells it.
    package var word: String {
        switch self {
        case .connectivity: "connectivity"
        case .dns: "dns"
        case .connect: "connect"
        case .timeout: "timeout"
        case .reset: "reset"
        case .tlsHandshake: "tls-handshake"
        case .errorType(let kind): kind.rawValue
        case .status(let status): String(status)
        }
    }

    package func matches(_ failure: Failure) -> Bool {
        if failure.isLastingRefusal { return false }
        return switch self {
        case .connectivity:
            [.dns, .connect, .timeout, .reset, .tlsHandshake].contains { (part: RetryCondition) in
                part.matches(failure)
            }
        case .dns: failure.kind == .dnsTimeout || failure.kind == .dnsError
        case .connect: Self.connectKinds.contains(failure.kind)
        case .timeout: Self.timeoutKinds.contains(failure.kind)
        case .reset: Self.resetKinds.contains(failure.kind)
        // A certificate that does not convince will not convince later: it is never connectivity.
        case .tlsHandshake:
            failure.phase == .securing
                && (failure.kind == .tlsProtocolError || failure.kind == .tlsAlertReceived)
        case .errorType(let kind): failure.kind == kind
        case .status: false
        }
    }

    fileprivate var isStatus: Bool { if case .status = self { true } else { false } }

    private static let connectKinds: Set<FailureKind> = [
        .connectionRefused, .connectionTimeout, .destinationUnavailable, .destinationIPUnroutable, .parentProxyUnreachable,
    ]
    private static let timeoutKinds: Set<FailureKind> = [
        .dnsTimeout, .connectionTimeout, .connectionReadTimeout, .connectionWriteTimeout,
        .httpResponseTimeout,
    ]
    private static let resetKinds: Set<FailureKind> = [.connectionTerminated, .httpResponseIncomplete]
}

extension [RetryCondition] {
    /// Whether one of the conditions is a status.
    package var hasStatus: Bool { contains { $0.isStatus } }

    /// Whether a response with this status is worth another attempt.
    package func match(status: Int) -> Bool { contains(.status(status)) }
}
