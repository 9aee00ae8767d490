import LayoverCore

/// How far an attempt got on its connection.
struct DirectProgress {
    /// Whether TLS was being made.
    var isSecuring: Bool
    /// Whether the connection has TLS with the origin itself.
    var isOriginSecure: Bool
    /// Bytes of the request, head and body, that the kernel has taken.
    var bytesSent: Int64
    /// Whether bytes were left to the channel, which does not tell how many it sent before it broke.
    var mayHaveSentMore: Bool
    /// Whether the kernel has taken all of the request.
    var isSent: Bool
    /// Whether some byte of a response came.
    var hasBegunResponse: Bool
    /// True if the final head came and was passed on. A withheld head does not count.
    var isAnswered: Bool
    /// Whether all of the response came before the request was sent.
    var isResponseOver: Bool
    /// Whether the connection had carried an earlier attempt.
    var isReused: Bool
    var localAddress: String?
    var remoteAddress: String?

    /// `neverSent` only where no byte can have left: the count is the kernel's own.
    var evidence: Evidence {
        if isAnswered { return .answered }
        return bytesSent > 0 || mayHaveSentMore ? .maybeApplied : .neverSent
    }

    var phase: FailurePhase {
        if isSecuring { return .securing }
        if isResponseOver { return .sending }
        if isAnswered { return .receiving }
        return isSent ? .awaitingResponse : .sending
    }
}
