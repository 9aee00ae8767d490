import LayoverCore

extension RequestSummary {
    init(method: String, hasIdempotencyKey: Bool = false, declaredRepeatable: Bool = false, body: Body = .none) {
        self.init(
            Repeatability(method: method, hasIdempotencyKey: hasIdempotencyKey, isDeclared: declaredRepeatable), body: body)
    }
}
