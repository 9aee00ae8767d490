import Dispatch
import LayoverCore
import LayoverTestSupport
import Logging
import NIOCore
import NIOEmbedded

@testable import LayoverEngine
@testable import LayoverProxy

/// The whole engine, the proxy's loops and the world around them, on one thread and a virtual clock.
///
/// Real are: the engine with all its machines, the loops, client connections, exchanges and bodies. Played are:
/// the sockets, the upstreams, the network, people, and time. Everything random comes from the seed. What
/// the engine and the loops tell each other waits in flight until the seed lets it arrive, so that they know
/// different things for a while, as they do on different threads.
final class Simulation {
    /// One event loop of the listener.
    struct Lane {
        var embedded: EmbeddedEventLoop
        var loop: ProxyLoop
        var worker: SimulatedWorker
    }

    let seed: UInt64
    var generator: SeededGenerator
    /// For what goes wrong at the worst moment.
    var misfortune: SeededGenerator
    /// For crowds.
    var crowding: SeededGenerator
    /// For parent proxies.
    var parentProxyGenerator: SeededGenerator
    let time = VirtualTime()
    var engineLoop: EngineLoop!
    var engine: Engine!
    /// Jobs of tasks that wait for their thread.
    let jobs = TaskJobs()
    var lanes: [Lane] = []
    var agenda = Agenda()
    var trace: Trace
    private(set) var referee: Referee!
    private(set) var breaches: [Breach] = []
    private(set) var step = 0
    private var serial = 0
    private var (spunAt, spinCount): (Int64, Int) = (0, 0)
    private static let spinCountMax = 5000

    // The world.
    let origins: [Origin]
    var moods: [Origin: OriginMood] = [:]
    /// True if there are parent proxies.
    let hasParentProxies: Bool
    var parentProxyMoods: [Origin: ParentProxyMood] = [:]
    var network = SimulatedNetwork()
    var clients: [SimulatedClient] = []
    var requests: [Int: RequestTruth] = [:]
    var connectRequests: [ObjectIdentifier: (exchange: Exchange, truth: RequestTruth)] = [:]
    /// Requests whose clients were told of a ticket, in that order.
    var told: [RequestTruth] = []
    var clientCount = 0
    var probeCount = 0
    var configuration = ProxyConfiguration()
    /// Number of reloads under way at the same time.
    var reloadsUnderWay = 0
    var isRecovering = false
    var isDraining = false

    /// How often servers were started.
    var startCounts: [Origin: UInt64] = [:]

    // The data that outlives the process, and with which each life begins.
    let disk = MemoryDisk()
    let storesTickets: Bool
    let limits: PendingLimits
    let hasProbe: Bool
    let laneCount: Int
    var store: SimulatedStore?
    /// True if the store of this life could not be opened so far.
    var isStoreClosed = false
    var life = 0
    var storeBusyUntil: Int64 = 0
    /// Until when no key can be searched for.
    var unsearchableUntil: Int64 = 0
    /// Commits that the disk refuses from now on.
    var refusedCommitCount = 0
    /// True if the process has reached a point at which it dies.
    var mustDie = false
    /// The crash point at which the first life ends; nil: the seed says, or it does not.
    let firstCrashPoint: Int?
    /// True if attempts under way are being cut off, because the time for an orderly stop is over.
    var isCuttingOff = false
    /// How far the world has come, for tests that want to see that something happened at all.
    var tally: [String: Int] = [:]

    /// - Parameter crashPoint: Where the first life ends; all tickets are kept then.
    init(seed: UInt64, isTraced: Bool = false, crashPoint: Int? = nil) throws {
        firstCrashPoint = crashPoint
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        misfortune = SeededGenerator(seed: seed &* 48_271 &+ 11)
        crowding = SeededGenerator(seed: seed &* 16_807 &+ 5)
        parentProxyGenerator = SeededGenerator(seed: seed &* 69_621 &+ 3)
        hasParentProxies = Int.random(in: 0..<3, using: &parentProxyGenerator) == 0
        trace = Trace(isOn: isTraced)
        var limits = PendingLimits()
        limits.entryCountMax = Int.random(in: 0..<4, using: &generator) == 0 ? 5 : 40
        limits.heldClientCountMax = Int.random(in: 0..<4, using: &generator) == 0 ? 4 : 40
        limits.perOriginAttemptCountMax = Int.random(in: 1...5, using: &generator)
        limits.rememberedCountMax = 30
        limits.unattendedCountMax = [1, 1, 2, 40].randomElement(using: &generator) ?? 40
        self.limits = limits
        hasProbe = Bool.random(using: &generator)
        storesTickets = Int.random(in: 0..<4, using: &generator) > 0 || crashPoint != nil
        laneCount = Int.random(in: 0..<3, using: &generator) == 0 ? 2 : 1
        origins = [
            Origin(scheme: .http, host: "a.example"), Origin(scheme: .http, host: "b.example", port: 8080),
            Origin(scheme: .https, host: "c.example"), Origin(scheme: .http, host: "127.0.0.1", port: 9000),
        ]
        for origin in origins { moods[origin] = Bool.random(using: &generator) ? .up : .refusing }
        configuration.viaIdentity = "layover-0a1b2c3d"
        if storesTickets { configuration.noTickets = nil }
        // Longer bodies cannot be sent again. No spool file, because its threads have no fixed order.
        configuration.body.byteCountMax = 1500
        configuration.body.inMemoryMax = 4000
        configuration.body.windowMax = 600
        configuration.routes = randomRoutes()
        referee = Referee(simulation: self)
    }

    // MARK: Small things

    func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &generator) < percent }

    func nextSerial() -> Int {
        serial += 1
        return serial
    }

    func later(_ wait: Duration, _ work: @escaping () -> Void) {
        agenda.add(at: time.nanoseconds + wait.nanosecondsSaturating, work)
    }

    func trace(_ line: () -> String) { trace.add(at: time.nanoseconds, line) }

    func count(_ what: String) { tally[what, default: 0] += 1 }

    func breach(_ invariant: String, _ detail: String) {
        trace { "BREACH of \(invariant): \(detail)" }
        breaches.append(Breach(seed: seed, invariant: invariant, detail: detail, step: step))
    }

    func truth(of attempt: UpstreamAttempt) -> RequestTruth? {
        if attempt.request.purpose == .transfer {
            // Drafts share their URL.
            let word =
                attempt.request.target == RequestTruth.draftTarget
                ? attempt.request.userAgent : attempt.request.target.split(separator: "/").last.map(String.init)
            return word.flatMap { Int($0.dropFirst()) }.flatMap { requests[$0] }
        }
        guard let exchange = attempt.receiver as? Exchange else { return nil }
        if let known = connectRequests[ObjectIdentifier(exchange)] { return known.truth }
        guard let client = clients.first(where: { $0.connection === exchange.client?.connection }),
            let truth = client.requests.last
        else { return nil }
        connectRequests[ObjectIdentifier(exchange)] = (exchange, truth)
        return truth
    }

    func truth(of entry: Entry) -> RequestTruth? {
        // A restart leaves the address.
        let isNamedByAgent = entry.origin.scheme == .tunnel || entry.url.hasSuffix(RequestTruth.draftTarget)
        if isNamedByAgent { return entry.client.userAgent.flatMap { truth(ofRequest: $0[...]) } }
        // Asked for very often: splitting the URL takes ten times as long.
        return entry.url.utf8.lastIndex(of: UInt8(ascii: "/")).flatMap { truth(ofRequest: entry.url[$0...].dropFirst()) }
    }

    private func truth(ofRequest name: Substring) -> RequestTruth? { Int(name.dropFirst()).flatMap { requests[$0] } }

    // MARK: Time

    /// Lets a few of the words in flight arrive.
    func arriveSome() {
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let place = Int.random(in: 0...lanes.count + 1, using: &generator)
            switch place - lanes.count {
            case 0: runEngineOnce()
            case 1: jobs.runOne()
            default: lanes[place].embedded.run()
            }
        }
    }

    private func runEngineOnce() {
        guard !engineLoop.isIdle else { return }
        engineLoop.runOne()
        referee.checkEngine()
    }

    /// Lets all words in flight arrive.
    func settle() {
        repeat {
            while !jobs.isIdle, !isSpinning() { jobs.runOne() }
            while !engineLoop.isIdle, !isSpinning() { runEngineOnce() }
            for lane in lanes { lane.embedded.run() }
        } while !(engineLoop.isIdle && jobs.isIdle) && breaches.isEmpty
    }

    /// True if so many events happen at one moment that the simulation makes no progress.
    private func isSpinning() -> Bool {
        if spunAt != time.nanoseconds { (spunAt, spinCount) = (time.nanoseconds, 0) }
        spinCount += 1
        if spinCount > Self.spinCountMax { breach("nothingSpins", "\(spinCount) words in no time") }
        return !breaches.isEmpty
    }

    /// Lets time pass, and everything happen that is due meanwhile.
    func advance(by duration: Duration) throws {
        let end = time.nanoseconds + duration.nanosecondsSaturating
        let tick: Int64 = 1_000_000_000
        while breaches.isEmpty {
            try doWhatIsDue()
            guard time.nanoseconds < end else { return }
            let nextTick = (time.nanoseconds / tick + 1) * tick
            let next = [end, nextTick, agenda.nextAt ?? end, engineLoop.nextTimerAt ?? end].min() ?? end
            time.move(to: next)
            for lane in lanes { lane.embedded.advanceTime(to: time.deadline) }
        }
    }

    private func doWhatIsDue() throws {
        engineLoop.fireTimers()
        while !isSpinning(), let work = agenda.takeDue(by: time.nanoseconds) {
            work()
            if mustDie { try die() }
            if chance(60) { settle() } else { arriveSome() }
        }
        settle()
        engineLoop.fireTimers()
        if !engineLoop.isIdle { settle() }
        answerProbe()
        referee.checkQuiet()
    }

    // MARK: The run

    /// Lives through a number of steps, and then sees to it that everybody can come to an end.
    func run(stepCount: Int) throws {
        jobs.takeOver()
        defer { jobs.letGo() }
        try startLife()
        settle()
        while step < stepCount, breaches.isEmpty {
            step += 1
            clients.removeAll { $0.isClosed }
            try takeStep()
        }
        if breaches.isEmpty { try finishEverything() }
        close()
    }

    private func takeStep() throws {
        switch Int.random(in: 0..<100, using: &generator) {
        case ..<24: try addClient()
        case ..<56: try advance(by: randomWait())
        case ..<64:
            changeMood()
            changeParentProxyMood()
        case ..<73: changeNetwork()
        case ..<88: command()
        case ..<94: clientActs()
        case ..<96: chance(70) ? reload() : reloadSeveralAtOnce()
        case ..<97 where storesTickets && chance(70): chance(60) ? try die() : try stop()
        default: arriveSome()
        }
    }

    private func randomWait() -> Duration {
        switch Int.random(in: 0..<10, using: &generator) {
        case ..<6: .milliseconds(Int.random(in: 0...500, using: &generator))
        case ..<9: .milliseconds(Int.random(in: 0...6000, using: &generator))
        default: .seconds(Int.random(in: 0...60, using: &generator))
        }
    }

    /// Leaves nothing behind that holds on to anything.
    private func close() {
        for client in clients { client.leave() }
        bury()
        agenda.clear()
    }

    static let logger = Logger(label: "simulation", factory: { _ in SwiftLogNoOpLogHandler() })
    static let queue = DispatchQueue(label: "simulation")
}
