import LayoverAdmin
import LayoverCore

/// Which lines tell a person at a terminal that the command waits, and that it goes on.
///
/// A host is named once its request has waited for a second, again each minute while it waits, and when the last of its requests has
/// ended. Several hosts that are due at once share a line, so that a build without a network does not fill the screen.
///
/// Pure: events and times in, lines out.
struct WaitingReport {
    /// Waiting that is over sooner is not worth a line. Default: 1 s.
    static let announcedAfter = Duration.seconds(1)
    /// Between two lines about the same host. Default: 1 minute.
    static let repeatedAfter = Duration.seconds(60)
    /// Most hosts that are named in a line of their own at a time. Default: 3.
    static let namedMax = 3
    /// Most requests that are followed; those beyond are not reported. Default: 10 000.
    static let requestCountMax = 10_000

    /// A request that waits.
    struct Request {
        var id: String
        var host: String
        /// A few words.
        var reason: String
    }

    private struct Host {
        var ids: Set<String>
        var reason: String
        let since: Duration
        /// When the wait was last reported. Nil: it was not reported yet.
        var saidAt: Duration?

        var dueAt: Duration { saidAt.map { $0 + WaitingReport.repeatedAfter } ?? since + WaitingReport.announcedAfter }
    }

    private var hosts: [String: Host] = [:]
    private var hostByID: [String: String] = [:]

    /// When `due` has something to say; nil: no request waits.
    var nextDueAt: Duration? { hosts.values.map(\.dueAt).min() }

    /// Whether a line about waiting has no line about its end yet.
    var isOpen: Bool { hosts.values.contains { $0.saidAt != nil } }

    /// A request waits, or waits for another reason.
    mutating func waits(_ request: Request, now: Duration) {
        guard hostByID.count < Self.requestCountMax || hostByID[request.id] != nil else { return }
        hostByID[request.id] = request.host
        hosts[request.host, default: Host(ids: [], reason: request.reason, since: now)].ids.insert(request.id)
        hosts[request.host]?.reason = request.reason
    }

    /// A request waits no more.
    ///
    /// - Parameter trouble: How the request ended, in a few words; nil: it was answered.
    mutating func ended(_ id: String, trouble: String?, now: Duration) -> String? {
        guard let name = hostByID.removeValue(forKey: id), var host = hosts[name] else { return nil }
        host.ids.remove(id)
        hosts[name] = host.ids.isEmpty ? nil : host
        guard host.ids.isEmpty, host.saidAt != nil else { return nil }
        let span = (now - host.since).roughText
        return trouble.map { "gave up on \(name) after \(span) (\($0))" } ?? "\(name) answered after \(span)"
    }

    /// The lines that are due.
    mutating func due(now: Duration) -> [String] {
        let due = hosts.filter { $0.value.dueAt <= now }.sorted { ($0.value.since, $0.key) < ($1.value.since, $1.key) }
        for (name, _) in due { hosts[name]?.saidAt = now }
        guard due.count > Self.namedMax, let (first, host) = due.first else {
            return due.map { "waiting for \($0.key) (\($0.value.reason), \((now - $0.value.since).roughText))…" }
        }
        return ["waiting for \(first) and \(due.count - 1) more hosts (\(host.reason), \((now - host.since).roughText))…"]
    }
}

extension WaitingReport {
    /// Takes an event about a request of the admin API.
    mutating func take(_ entry: EntryDocument, hasEnded: Bool, now: Duration) -> String? {
        guard !hasEnded else { return ended(entry.id, trouble: Self.trouble(of: entry), now: now) }
        // The response comes, which may take long.
        if entry.attempt?.phase == FailurePhase.receiving.rawValue { return ended(entry.id, trouble: nil, now: now) }
        waits(Request(id: entry.id, host: entry.host, reason: Self.reason(of: entry)), now: now)
        return nil
    }

    /// How the request ended. Nil: it was answered.
    private static func trouble(of entry: EntryDocument) -> String? {
        entry.state == EntryState.delivered.rawValue ? nil : entry.state
    }

    static func reason(of entry: EntryDocument) -> String {
        switch (entry.state, entry.waitingFor) {
        case (EntryState.held.rawValue, _): "held by a person"
        case (EntryState.undecided.rawValue, _): "it may have been applied; a person decides"
        case (_, WaitReason.network.rawValue): "offline"
        case (_, WaitReason.lane.rawValue), (_, WaitReason.parent.rawValue): "waits for another request"
        case _: entry.lastFailure.map { text(of: $0.kind) } ?? "not reachable"
        }
    }

    private static func text(of kind: String) -> String {
        switch FailureKind(rawValue: kind) {
        case .dnsError, .dnsTimeout: "its name is not found"
        case .httpResponseStatus: "it answers that it is busy"
        case .httpResponseIncomplete: "its response broke off"
        case .connectionTimeout, .httpResponseTimeout, .connectionReadTimeout, .connectionWriteTimeout: "no answer"
        case _: kind.replacing("_", with: " ")
        }
    }
}
