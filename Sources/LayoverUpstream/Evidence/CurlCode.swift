import LayoverCore

/// The meaning of one result code of libcurl.
struct CurlCode {
    let number: Int32
    let name: StaticString
    let kind: FailureKind
    /// The phase in which the error always happens; nil: the progress of the transfer decides.
    let phase: FailurePhase?
    let reason: String

    init(
        _ number: Int32, _ name: StaticString, _ kind: FailureKind, _ phase: FailurePhase?,
        _ reason: String
    ) {
        self.number = number
        self.name = name
        self.kind = kind
        self.phase = phase
        self.reason = reason
    }

    /// A code that a request over HTTP/1, set up as ours are, does not get; or a fault of our own.
    static func unexpected(
        _ number: Int32, _ name: StaticString, _ reason: String
    ) -> CurlCode {
        CurlCode(number, name, .proxyInternalError, nil, reason)
    }

    /// A code for what other ways to an origin meet as well.
    static func shared(_ number: Int32, _ name: StaticString, _ phase: FailurePhase?, _ reason: FailureReason) -> CurlCode {
        CurlCode(number, name, reason.kind, phase, reason.message)
    }

    static func named(_ number: Int32) -> CurlCode {
        guard number >= 0, number < table.count else {
            return CurlCode(
                number, "unknown", .proxyInternalError, nil, "libcurl reported an unknown error code.")
        }
        return table[Int(number)]
    }
}
