package import LayoverCore
package import LayoverHTTP

extension FailureReason {
    /// The reason of a response that breaks the rules of HTTP/1.1, or that is over a limit.
    ///
    /// - Parameters:
    ///   - isInHead: Whether the final head had not come.
    ///   - mayUseHTTP2: Whether the key `http2` of a route could help: the request is no upgrade, and TLS is made with the origin.
    package init(_ error: FramingError, isInHead: Bool, mayUseHTTP2: Bool = false) {
        let hint = mayUseHTTP2 && error == .isHTTP2 ? " \(Self.hintAtHTTP2)" : ""
        let reason = FailureReason(Self.kind(of: error, isInHead: isInHead), "\(error.reason)\(hint)")
        self = error.isLengthOfHead ? .headTooLarge : reason
    }

    private static func kind(of error: FramingError, isInHead: Bool) -> FailureKind {
        if isInHead { return error.isSizeOfHead ? .httpResponseHeaderSectionSize : .httpProtocolError }
        return error.isSizeOfTrailers ? .httpResponseTrailerSectionSize : .httpResponseTransferCoding
    }
}
