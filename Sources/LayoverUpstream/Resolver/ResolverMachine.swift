import LayoverCore

/// Decides which names are looked up when, and who hears of it. Facts in, actions out: no thread, no clock.
///
/// A name has at most one current lookup, whoever asks. It waits in the line until one of the few places is
/// free, runs, and ends; then everybody who asked hears of it once, and addresses are kept for a while.
/// Failures are not kept: what waits for a network must see it come back.
///
/// Rules:
/// - An asker never gets an answer to a question that was put before its `notBefore`. A running lookup that
///   is older is written off and a new one takes its askers over.
/// - A place is taken only by a lookup that somebody waits for. One that is written off, or whose askers
///   have all withdrawn, goes on in its thread but takes no place. So names behind silent servers delay
///   others for as long as their attempts live, and not for as long as the servers are silent; beyond
///   `threadCountMax` hanging lookups names do wait for the first of them to end.
/// - A name that nobody waits for any more leaves the line.
struct ResolverMachine {
    typealias Asker = Int

    private struct Lookup {
        let id: UInt64
        var askers: [Asker]
        /// Nil while it waits in the line.
        var startedAt: UInt64?
    }

    private struct Entry {
        var held: NameAnswer?
        var current: Lookup?
    }

    private let limits: ResolverLimits
    private var entries: [String: Entry] = [:]
    /// Names whose current lookup waits, in order.
    private var line: [String] = []
    /// Every lookup that has a thread, current or written off.
    private var running: [UInt64: String] = [:]
    private var heldCount = 0
    private var lastID: UInt64 = 0

    init(limits: ResolverLimits) { self.limits = limits }

    var runningCount: Int { running.count }
    var waitingCount: Int { line.count }
    var nameCount: Int { entries.count }

    // MARK: Facts

    mutating func asked(
        _ name: String, by asker: Asker, notBefore: UInt64, now: UInt64
    ) -> [ResolverAction] {
        var entry = entries[name] ?? Entry()
        if let held = entry.held, held.isUsable(notBefore: notBefore, now: now) {
            return [.deliver(held, name: name, to: [asker])]
        }
        var askers = entry.current?.askers ?? []
        if !askers.contains(asker) { askers.append(asker) }
        if let current = entry.current, current.startedAt ?? .max >= notBefore {
            entry.current?.askers = askers
        } else if line.count < limits.waitingCountMax {
            lastID += 1
            entry.current = Lookup(id: lastID, askers: askers)
            line.append(name)
        } else {
            let answer = NameAnswer(outcome: .failed(.busy), askedAt: now, usableUntil: now)
            return [.deliver(answer, name: name, to: [asker])]
        }
        entries[name] = entry
        return startLookups(now: now)
    }

    /// An asker does not wait for these names any more.
    ///
    /// All that end together must be told together: else the places that the first ones leave would go to
    /// names that are about to be withdrawn.
    mutating func withdrawn(
        _ names: some Sequence<String>, by asker: Asker, now: UInt64
    ) -> [ResolverAction] {
        for name in names {
            entries[name]?.current?.askers.removeAll { $0 == asker }
            guard let current = entries[name]?.current, current.startedAt == nil, current.askers.isEmpty
            else { continue }
            entries[name]?.current = nil
            dropIfEmpty(name)
        }
        line.removeAll { entries[$0]?.current == nil }
        return startLookups(now: now)
    }

    /// No connection could be made to the addresses of an answer: it is not given to others. A newer answer stays.
    mutating func distrusted(_ name: String, askedAt time: UInt64) {
        guard let held = entries[name]?.held, held.askedAt <= time else { return }
        dropHeld(name)
    }

    /// An asker is gone for good.
    mutating func left(_ asker: Asker, now: UInt64) -> [ResolverAction] {
        withdrawn(Array(entries.keys), by: asker, now: now)
    }

    mutating func ended(_ id: UInt64, with outcome: NameOutcome, now: UInt64) -> [ResolverAction] {
        guard let name = running.removeValue(forKey: id) else {
            preconditionFailure("lookup \(id) ended and does not run")
        }
        guard let lookup = entries[name]?.current, lookup.id == id, let startedAt = lookup.startedAt
        else { return startLookups(now: now) }
        let answer = NameAnswer(
            outcome: outcome, askedAt: startedAt, usableUntil: now + limits.nameAgeMax.nanoseconds)
        entries[name]?.current = nil
        hold(answer, of: name, now: now)
        let told =
            lookup.askers.isEmpty
            ? [] : [ResolverAction.deliver(answer, name: name, to: lookup.askers)]
        return told + startLookups(now: now)
    }

    // MARK: Parts

    private mutating func startLookups(now: UInt64) -> [ResolverAction] {
        var actions: [ResolverAction] = []
        var places = min(
            limits.runningCountMax - wantedCount, limits.threadCountMax - running.count, line.count)
        while places > 0 {
            places -= 1
            let name = line.removeFirst()
            guard let id = entries[name]?.current?.id else {
                preconditionFailure("a name in the line has no lookup")
            }
            entries[name]?.current?.startedAt = now
            running[id] = name
            actions.append(.start(lookup: id, name: name))
        }
        return actions
    }

    /// Running lookups that somebody waits for.
    private var wantedCount: Int {
        running.count { id, name in
            guard let current = entries[name]?.current, current.id == id else { return false }
            return !current.askers.isEmpty
        }
    }

    private mutating func hold(_ answer: NameAnswer, of name: String, now: UInt64) {
        if case .addresses = answer.outcome {
            if entries[name]?.held == nil {
                if heldCount >= limits.heldCountMax { makeRoom(now: now) }
                heldCount += 1
            }
            entries[name, default: Entry()].held = answer
        } else {
            dropHeld(name)
        }
    }

    /// Drops what is old; where that is nothing, everything: it can be asked again.
    private mutating func makeRoom(now: UInt64) {
        let old = entries.filter { ($0.value.held?.usableUntil ?? .max) <= now }.keys
        for name in old { dropHeld(name) }
        if heldCount >= limits.heldCountMax { for name in Array(entries.keys) { dropHeld(name) } }
    }

    private mutating func dropHeld(_ name: String) {
        if entries[name]?.held != nil {
            entries[name]?.held = nil
            heldCount -= 1
        }
        dropIfEmpty(name)
    }

    private mutating func dropIfEmpty(_ name: String) {
        guard let entry = entries[name], entry.held == nil, entry.current == nil else { return }
        entries[name] = nil
    }
}

/// What follows from a fact that `ResolverMachine` was told.
enum ResolverAction: Equatable {
    /// Begin a lookup on a thread of its own.
    case start(lookup: UInt64, name: String)
    /// Tell each of the askers.
    case deliver(NameAnswer, name: String, to: [ResolverMachine.Asker])
}

/// Limits on the lookups of one upstream.
struct ResolverLimits: Sendable {
    /// Most lookups that somebody waits for and that run at the same time. Default: 8.
    var runningCountMax = 8
    /// Most threads in all, those included whose lookup nobody waits for any more. A lookup cannot be
    /// broken off (getaddrinfo(3)), and with a silent server it lasts up to half a minute (resolv.conf(5):
    /// 5 s, twice, for each of three servers), so such threads must not stand in the way of others.
    /// Default: 32.
    var threadCountMax = 32
    /// Most names that wait for their turn. Default: 1024.
    var waitingCountMax = 1024
    /// Most names whose addresses are kept. Default: 4096.
    var heldCountMax = 4096
    /// How long addresses are believed. getaddrinfo(3) does not tell their real life.
    var nameAgeMax: Duration

    init(nameAgeMax: Duration) { self.nameAgeMax = nameAgeMax }
}

/// The outcome of one lookup of a name.
enum NameOutcome: Sendable, Equatable {
    /// Numeric addresses in the order in which they are to be tried, separated by commas, IPv6 in
    /// brackets (CURLOPT_RESOLVE(3)).
    case addresses(String)
    case failed(NameFailure)
}

/// An outcome with the time that it belongs to.
struct NameAnswer: Sendable, Equatable {
    var outcome: NameOutcome
    /// When the lookup began, on `MonotonicClock`.
    var askedAt: UInt64
    /// When the name must be asked for again.
    var usableUntil: UInt64

    /// - Parameter notBefore: When the asker's network changed last: older answers are of another network.
    func isUsable(notBefore: UInt64, now: UInt64) -> Bool {
        askedAt >= notBefore && now < usableUntil
    }
}

/// Why a name has no addresses.
enum NameFailure: Sendable, Hashable {
    /// The name does not exist: NXDOMAIN, or no source of names has it (RFC 8020, nsswitch.conf(5)).
    case unknown
    /// The name exists, but without an address (EAI_NODATA). Unlike `unknown` this depends on the families
    /// that this machine uses, so it proves less.
    case noAddress
    /// No resolver answered: none is configured, none can be reached, or all are silent.
    case noResolver
    /// A resolver answered that it cannot or will not find out.
    case refused
    /// The system failed while it looked; errno or a code of getaddrinfo(3).
    case system(Int32)
    /// Too many names wait already.
    case busy

    var kind: FailureKind { self == .busy ? .dnsTimeout : .dnsError }

    func message(about name: String) -> String {
        switch self {
        case .unknown: "The name \(name) does not exist."
        case .noAddress: "The name \(name) exists but has no address."
        case .noResolver: "The name \(name) could not be resolved: no resolver answered."
        case .refused: "The name \(name) could not be resolved: the resolver reported a failure."
        case .system(let code): "The name \(name) could not be resolved: system error \(code)."
        case .busy: "The name \(name) could not be resolved: the resolver is busy."
        }
    }
}
