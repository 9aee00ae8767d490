/// The effect of a rehearsal on one attempt.
package enum RehearsalPlay: Sendable, Hashable {
    /// The attempt fails at once; nothing was sent.
    case fail(Failure)
    /// No connection comes about. If that lasts as long as a connection may take, the attempt fails; if the rehearsal is over before,
    /// the attempt is made.
    case hang
    /// The response is made here; nothing was sent.
    case answer(MadeResponse)
    /// The attempt is made, and its response ends after so many bytes.
    case cut(afterBytes: Int)
    /// The attempt is made, and its response comes at this rate.
    case slow(bytesPerSecond: Int)
    /// The attempt is made as if there were no rehearsal.
    case none
}

/// A response that comes from a rehearsal and from no host.
package struct MadeResponse: Sendable, Hashable {
    package var status: Int
    package var fields: [(name: String, value: String)]
    package var body: String

    package static func == (one: Self, other: Self) -> Bool {
        one.status == other.status && one.body == other.body
            && one.fields.elementsEqual(other.fields) { $0.name == $1.name && $0.value == $1.value }
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(status)
        hasher.combine(body)
    }
}

extension Rehearsal {
    /// The effect of the rehearsal on an attempt.
    package func play(_ purpose: RequestPurpose, to origin: Origin) -> RehearsalPlay {
        guard purpose == .transfer || order.fault.reachesTunnels else { return .none }
        switch order.fault {
        case .refuse: return .fail(failure(.connecting, .connectionRefused, .neverSent, "the connection was refused."))
        case .hang: return .hang
        case .cut: return .cut(afterBytes: order.byteCount ?? 0)
        case .slow: return .slow(bytesPerSecond: order.byteCount ?? RehearsalOrder.slowStandard)
        case .status: return .answer(response(order.status ?? RehearsalOrder.statusStandard))
        case .portal: return portal(purpose, origin)
        }
    }

    /// A portal can answer plain HTTP only. To TLS it has no certificate of the host, and other connections it breaks.
    private func portal(_ purpose: RequestPurpose, _ origin: Origin) -> RehearsalPlay {
        switch (purpose, origin.scheme) {
        case (.transfer, .https):
            return .fail(
                failure(.securing, .tlsCertificateError, .neverSent, "the certificate is one of a captive portal, not of the origin."))
        case (.transfer, _):
            var portal = response(302)
            portal.fields.insert(("Location", "http://portal.invalid/login"), at: 0)
            return .answer(portal)
        case (.dial, _), (.upgrade, _):
            return .fail(failure(.connecting, .connectionTerminated, .neverSent, "a captive portal broke the connection."))
        }
    }

    /// A response of the rehearsal. Its text says what it is, so that nobody takes it for one of the host.
    private func response(_ status: Int) -> MadeResponse {
        let title = order.fault == .portal ? "Captive portal" : "Status \(status)"
        return MadeResponse(
            status: status,
            fields: [
                ("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store"),
                ("Proxy-Status", "layover; error=proxy_internal_response; details=\"rehearsal \(number)\""),
            ],
            body: """
                <!doctype html><title>\(title) (rehearsal)</title>
                <p>This response is part of rehearsal \(number) of Layover. \(order.host) was not asked.</p>

                """)
    }

    // MARK: Failures

    /// No connection came about in the time that it may take.
    package func connectTimeout(_ limit: Duration) -> Failure {
        failure(.connecting, .connectionTimeout, .neverSent, "nothing answered within \(limit.inSeconds) s.")
    }

    /// The response was cut off.
    ///
    /// - Parameter isAnswered: Whether its head had come through.
    package func cutOff(isAnswered: Bool) -> Failure {
        isAnswered
            ? failure(.receiving, .httpResponseIncomplete, .answered, "the response was cut off.")
            : failure(
                .awaitingResponse, .connectionTerminated, .maybeApplied,
                "the connection was cut off before the response head was complete. The request was sent.")
    }

    private func failure(
        _ phase: FailurePhase, _ kind: FailureKind, _ evidence: Evidence, _ words: String
    ) -> Failure {
        // Neither libcurl nor the system has seen it, so there is no code of theirs.
        Failure(phase: phase, kind: kind, evidence: evidence, message: "Rehearsal \(number): \(words)")
    }
}

extension ConnectionFacts {
    private static let mark = "(rehearsal)"

    /// Those of a response that was made here.
    package static let made = ConnectionFacts(localAddress: nil, remoteAddress: mark, reusedConnection: false, bytesSent: 0)

    /// Whether the response was made here.
    package var isMade: Bool { remoteAddress == Self.mark }

    /// Says that the response came from its host, and not as the host gave it.
    package mutating func becomeRehearsed() { remoteAddress = (remoteAddress.map { $0 + " " } ?? "unknown ") + Self.mark }
}

/// How much of a slow response has come by a certain time.
package struct Trickle: Sendable, Hashable {
    private let bytesPerSecond: Int
    private let startedAt: Timestamp
    private var passedCount = 0

    package init(bytesPerSecond: Int, startedAt: Timestamp) {
        self.bytesPerSecond = bytesPerSecond
        self.startedAt = startedAt
    }

    /// Bytes that may be passed on now, besides those that were.
    package func allowance(at now: Timestamp) -> Int {
        // More than what fits an Int has come long ago.
        let come = max(0, (now - startedAt).inSeconds) * Double(bytesPerSecond)
        return come >= Double(Int.max / 2) ? Int.max / 2 : max(0, Int(come) - passedCount)
    }

    package mutating func passed(_ count: Int) { passedCount += count }
}
