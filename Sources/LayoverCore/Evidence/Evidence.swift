/// What an attempt proves about the request, whatever else went wrong.
package enum Evidence: String, CaseIterable, Sendable {
    /// Nothing of the request left this machine; sending it now is its first sending.
    case neverSent
    /// At least one byte was handed to the kernel and no final response head came back.
    case maybeApplied
    /// A final response head arrived.
    case answered
}
