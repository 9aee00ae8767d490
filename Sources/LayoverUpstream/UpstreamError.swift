import Glibc

/// Why no upstream or worker could be made. Attempts never throw: they end with a `Failure`.
package struct UpstreamError: Error, Sendable, CustomStringConvertible {
    package enum Code: Sendable { case libcurlUnusable, caFileUnreadable, outOfResources }

    package var code: Code
    /// What we were doing, as a complete sentence that is safe to show.
    package var context: String
    /// errno(3), when the system was the cause.
    package var osError: Int32?

    /// For people who start the proxy.
    package var description: String {
        osError.map { "\(context) The system says: \(String(cString: strerror($0)))." } ?? context
    }
}
