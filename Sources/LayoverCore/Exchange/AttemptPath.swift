/// Who carries the bytes of an attempt.
package enum AttemptPath: String, CaseIterable, Sendable {
    /// The HTTP/1.1 exchange of our own, on the event loop of the client.
    case direct
    /// A transfer of libcurl, on a thread of its own.
    case libcurl
}
