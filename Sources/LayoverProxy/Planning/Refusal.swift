import LayoverCore

/// Why a request is answered by the proxy itself, before any attempt.
struct Refusal: Error {
    var problem: Problem
    /// Whether the connection must be closed afterwards because the request's end is not known.
    var closes = false

    init(_ status: Int, _ kind: String, _ detail: String, error: FailureKind, closes: Bool = false) {
        problem = Problem(status: status, kind: kind, detail: detail, error: error)
        self.closes = closes
    }

    init(problem: Problem, closes: Bool = false) {
        self.problem = problem
        self.closes = closes
    }

    static func malformed(_ detail: String) -> Refusal {
        Refusal(400, "malformed", detail, error: .httpRequestError, closes: true)
    }
}
