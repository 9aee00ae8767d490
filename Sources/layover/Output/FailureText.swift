/// Where a failure happened, for people.
enum FailureText {
    static func place(_ kind: String, _ phase: String?) -> String {
        guard let phase else { return kind }
        // A request that is incomplete is refused before its origin is looked for; `resolving` is only the earliest phase.
        if kind == "http_request_error", phase == "resolving" { return "\(kind) before sending" }
        return "\(kind) while \(phase)"
    }
}
