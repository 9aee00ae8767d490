package import LayoverCore

extension Failure {
    /// The failure of an attempt that was never made, because it was cancelled before or the worker is gone.
    package static let abortedByProxy = Failure(
        phase: .resolving, kind: .proxyInternalError, evidence: .neverSent,
        message: "The proxy aborted the attempt.")
}
