/// One failure that a coordinator's operation waits out.
public struct FailedOperation: Sendable {
    /// What the caller named the operation.
    public let name: String
    /// Which operation, where several have the same name.
    public let id: RetryIncident.MemberID
    /// Attempts of this operation so far, this one included.
    public let attempt: Int
    /// What the attempt threw.
    public let error: any Error
}
