import LayoverCore

/// How an origin is doing. The seed changes it now and then.
enum OriginMood: String, CaseIterable {
    case up, refusing, unresolvable, hanging, brokenTLS, closing, resetting, dying, busy, failing, slow,
        silent, mixed

    /// The outcome of an attempt at an origin in this mood.
    func fate(using generator: inout some RandomNumberGenerator) -> Fate {
        func millis(_ range: ClosedRange<Int>) -> Duration {
            // A coarse grid, so that things often happen at the same moment.
            .milliseconds(Int.random(in: range, using: &generator) / 5 * 5)
        }
        var reply = Fate.Reply()
        reply.connectsAfter = millis(0...30)
        reply.after = millis(0...60)
        reply.bodyByteCount = [0, 1, 20, 300, 300, 2000].randomElement(using: &generator) ?? 20
        reply.isChunked = Bool.random(using: &generator)
        reply.isTagged = Int.random(in: 0..<3, using: &generator) > 0
        reply.isWeaklyTagged = Int.random(in: 0..<8, using: &generator) == 0
        let hasRest = Int.random(in: 0..<4, using: &generator) > 0
        reply.rest = hasRest ? .right : Rest.allCases.randomElement(using: &generator) ?? .right
        reply.isEarly = Int.random(in: 0..<12, using: &generator) == 0
        reply.sendsInterim = Int.random(in: 0..<12, using: &generator) == 0
        switch self {
        case .up: break
        case .refusing:
            return .neverConnects(
                .connectionRefused, .connecting, after: millis(0...20), isNameUnknown: false)
        case .unresolvable:
            let isUnknown = Int.random(in: 0..<3, using: &generator) == 0
            return .neverConnects(.dnsError, .resolving, after: millis(0...200), isNameUnknown: isUnknown)
        case .hanging:
            return .neverConnects(.connectionTimeout, .connecting, after: .seconds(10), isNameUnknown: false)
        case .brokenTLS:
            let isFinal = Bool.random(using: &generator)
            return .neverConnects(
                isFinal ? .tlsCertificateError : .tlsProtocolError, .securing, after: millis(10...50),
                isNameUnknown: false)
        case .closing:
            return .breaksAfterSending(
                .connectionTerminated, bodyByteCount: .max, after: millis(0...40),
                isStale: Bool.random(using: &generator))
        case .resetting:
            if Int.random(in: 0..<4, using: &generator) == 0 {
                return .breaksBeforeSending(after: millis(0...30))
            }
            return .breaksAfterSending(
                .connectionTerminated, bodyByteCount: Int.random(in: 0...400, using: &generator),
                after: millis(0...40), isStale: false)
        case .dying:
            reply.bodyByteCount = 400
            reply.diesAfter = Int.random(in: 0..<400, using: &generator)
        case .busy:
            reply.status = [503, 503, 429, 502].randomElement(using: &generator) ?? 503
            reply.retryAfter = [nil, 0, 1, 7, 40, 4000].randomElement(using: &generator) ?? nil
            reply.forbidsRetry = Int.random(in: 0..<10, using: &generator) == 0
        case .failing:
            reply.status = [500, 404, 204, 304].randomElement(using: &generator) ?? 500
        case .slow:
            reply.connectsAfter = millis(500...4000)
            reply.after = millis(500...9000)
            reply.pace = millis(0...900)
            if Bool.random(using: &generator) {
                return .breaksAfterSending(
                    .httpResponseTimeout, bodyByteCount: .max, after: millis(1000...9000), isStale: false)
            }
        case .silent: return .staysSilent
        case .mixed:
            let other = OriginMood.allCases.filter { $0 != .mixed }.randomElement(using: &generator) ?? .up
            return other.fate(using: &generator)
        }
        return .answers(reply)
    }
}
