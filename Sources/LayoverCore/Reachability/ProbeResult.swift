/// What came of one probe: a request made on purpose, to see whether the network works.
package enum ProbeResult: Sendable, Hashable {
    /// The status that the configuration expects.
    case expected
    /// Another status, redirects among them: another server answered, most likely a captive portal.
    case portal(status: Int)
    /// No response. Says little: the server of the probe may be the one that is away.
    case failed(FailureKind, message: String)
}
