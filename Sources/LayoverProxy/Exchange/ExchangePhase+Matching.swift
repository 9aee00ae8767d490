import LayoverCore

/// Matching in place: `==` of an enum with data in its cases is a call into another module, and the fast path asks often.
extension ExchangePhase {
    var isPreflight: Bool { if case .preflight = self { true } else { false } }
    var isAttempting: Bool { if case .attempting = self { true } else { false } }
    var isOffering: Bool { if case .offering = self { true } else { false } }
    var isParked: Bool { if case .parked = self { true } else { false } }
    var isDelivering: Bool { if case .delivering = self { true } else { false } }
    var isUnattended: Bool { if case .unattended = self { true } else { false } }
    var isEnded: Bool { if case .ended = self { true } else { false } }
}

extension ExchangeMachine.Holder {
    var isCache: Bool { if case .cache = self { true } else { false } }
    /// Whether the store has the request.
    var isStored: Bool { if case .store(.stored) = self { true } else { false } }
}
