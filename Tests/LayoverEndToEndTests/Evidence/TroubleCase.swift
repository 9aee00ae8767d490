import LayoverTestSupport
import Synchronization

/// One request that meets one kind of trouble, for the table in `docs/maybe-applied.md`.
struct TroubleCase: Sendable, Hashable {
    /// The fault of the origin at the first request of the case. It answers the next one.
    enum Trouble: String, Sendable, CaseIterable {
        case readsAndCloses = "reads it and closes"
        case resets = "reads it and resets"
        case stalls = "reads it and stalls"
        case diesInHead = "dies in the head of its response"
        case diesInBody = "dies in the body of its response"
        case closesIdle = "had closed the kept-alive connection"

        /// The connection can only have been closed before if there was one.
        var needsReusedConnection: Bool { self == .closesIdle }
    }

    var trouble: Trouble
    var method: String
    var hasBody: Bool
    var hasKey: Bool
    /// True if there is a connection that was used before.
    var offersReuse: Bool

    /// SEMANTICS section 1.
    var isRepeatable: Bool { hasKey || ["PUT", "DELETE"].contains(method) }

    static let all: [TroubleCase] = Trouble.allCases.flatMap { trouble in
        ["POST", "PATCH", "PUT", "DELETE"].flatMap { method in
            [true, false].flatMap { hasBody in
                [true, false].flatMap { hasKey in
                    [false, true].compactMap { offersReuse in
                        guard offersReuse || !trouble.needsReusedConnection else { return nil }
                        return TroubleCase(
                            trouble: trouble, method: method, hasBody: hasBody, hasKey: hasKey,
                            offersReuse: offersReuse)
                    }
                }
            }
        }
    }

    /// The request as a client sends it to the proxy.
    func request(port: Int, _ fields: String...) -> String {
        let key = hasKey ? "Idempotency-Key: k\r\n" : ""
        let extra = fields.map { $0 + "\r\n" }.joined()
        let framing = hasBody ? "Content-Length: 5\r\n\r\norder" : "\r\n"
        return "\(method) http://127.0.0.1:\(port)/case HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
            + key + extra + framing
    }

    /// An origin that misbehaves once.
    func origin() throws -> MisbehavingOrigin {
        let trial = Trial()
        return try MisbehavingOrigin { connection in
            while let (head, _) = connection.readRequest() {
                guard head.contains(" /case ") else {
                    connection.answer("warm")
                    if trouble == .closesIdle { return }
                    continue
                }
                if trial.isFirst, trouble != .closesIdle { return misbehave(connection) }
                connection.answer("done")
            }
        }
    }

    /// Records if the request of the case has come before.
    private final class Trial: Sendable {
        private let hasBegun = Atomic(false)

        var isFirst: Bool { !hasBegun.exchange(true, ordering: .acquiringAndReleasing) }
    }

    private func misbehave(_ connection: OriginConnection) {
        switch trouble {
        case .readsAndCloses, .closesIdle: break
        case .resets: connection.reset()
        case .stalls: connection.readToEnd()
        case .diesInHead: connection.write("HTTP/1.1 200 OK\r\nContent-Le")
        case .diesInBody: connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        }
    }
}
