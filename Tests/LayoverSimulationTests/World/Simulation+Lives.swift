import LayoverCore
import NIOCore
import NIOEmbedded
import NIOPosix

@testable import LayoverEngine
@testable import LayoverProxy
@testable import LayoverTestSupport

/// The process and its lives: it dies, and another one starts on what it left on the disk.
extension Simulation {
    /// Makes an engine and its loops, and has them take over what an earlier life left.
    func startLife() throws {
        life += 1
        mustDie = false
        let engineLoop = EngineLoop(time: time)
        self.engineLoop = engineLoop
        store = storesTickets ? makeStore() : nil
        let standIn = life > 1 && storesTickets && isUnlucky(20) ? makeStandIn() : nil
        isStoreClosed = standIn != nil
        engine = Engine(
            eventLoop: engineLoop, clock: time, limits: limits,
            reachability: Reachability(hasProbe: hasProbe, now: time.now()), store: standIn ?? store,
            generator: SeededGenerator(seed: seed &+ 1 &+ UInt64(life) &* 7_368_787), logger: Self.logger)
        let listeners = SimulatedListeners(look: Unchecked { [unowned self] port in self.listeners(on: port) })
        engine.assumeIsolated { $0.setListenerTable(listeners) }
        lanes = []
        for number in 0..<laneCount { try addLane(number) }
        guard let store else { return }
        let routes = configuration.routes
        if let standIn { return openLater(store, replacing: standIn) }
        let before = rows
        try engine.assumeIsolated { try $0.restore(from: store, bootID: "boot", routes: routes) }
        referee.lifeBegan(before)
    }

    private func makeStandIn() -> UnavailableStore {
        let refuse = Unchecked { [unowned self] (work: @escaping @Sendable () -> Void) in later(.zero) { work() } }
        return UnavailableStore(StoreFailure(.full, "The disk is full."), schedule: { refuse.value($0) })
    }

    /// The store cannot be opened at the start of this life.
    private func openLater(_ store: SimulatedStore, replacing standIn: UnavailableStore) {
        count("stores opened later")
        let (routes, lifeBefore) = (configuration.routes, life)
        engine.assumeIsolated { $0.begin(with: routes) }
        referee.lifeBegan([:])
        later(.milliseconds([200, 2000, 9000].randomElement(using: &misfortune) ?? 200)) { [unowned self] in
            guard life == lifeBefore, !store.isDead, !isDraining else { return }
            let before = rows
            guard (try? engine.assumeIsolated({ try $0.restore(from: store, replacing: standIn, bootID: "boot") })) == true
            else { return }
            isStoreClosed = false
            trace { "the store opens" }
            for lane in lanes { lane.loop.acceptTickets(unless: nil) }
            referee.lifeBegan(before)
        }
    }

    private func addLane(_ number: Int) throws {
        let embedded = EmbeddedEventLoop()
        embedded.advanceTime(to: time.deadline)
        let worker = SimulatedWorker(simulation: self)
        var configuration = configuration
        if isStoreClosed {
            configuration.noTickets = StoreFailure(.full, "The disk is full.")
            configuration.keepsLanesWaiting = true
        }
        let loop = ProxyLoop(
            eventLoop: embedded, engine: engine, configuration: configuration,
            spool: BodySpool(folder: "", byteCountMax: 1 << 30, threads: .singleton),
            addressGuard: OwnAddressGuard(),
            connectionLimit: ConnectionLimit(countMax: 30), logger: Self.logger)
        loop.generator = SeededGenerator(seed: seed &* 31 &+ UInt64(number) &+ UInt64(life) &* 104_729)
        loop.askForPeerSocket = { [unowned self] connection in
            clients.first { $0.connection === connection }?.peerSocket ?? .unknown
        }
        try loop.start(with: SimulatedUpstream(worker: worker))
        lanes.append(Lane(embedded: embedded, loop: loop, worker: worker))
        engine.assumeIsolated { $0.register(loop) }
    }

    private func makeStore() -> SimulatedStore {
        var faults = MemoryFaults()
        if chance(40) {
            for number in 1...150 where chance(4) {
                faults.failures[number] = StoreFailure(.io, "The simulation says so.", mayBeStored: chance(50))
            }
        }
        if chance(25) {
            // Full for a while, and then there is room again.
            let start = Int.random(in: 1...60, using: &generator)
            for number in start...start + Int.random(in: 2...25, using: &generator) {
                faults.failures[number] = StoreFailure(.full, "The disk is full.")
            }
        }
        let refusal = Unchecked { [unowned self] () -> StoreFailure? in
            guard refusedCommitCount > 0 else { return nil }
            refusedCommitCount -= 1
            return StoreFailure(.full, "The disk is full.")
        }
        faults.trouble = { refusal.value() }
        let isUnsearchable = Unchecked { [unowned self] () -> StoreFailure? in
            if time.nanoseconds >= unsearchableUntil {
                guard isUnlucky(15) else { return nil }
                let pause = Duration.milliseconds([0, 0, 1500, 12_000].randomElement(using: &misfortune) ?? 0)
                unsearchableUntil = time.nanoseconds + pause.nanosecondsSaturating
            }
            count("failed searches")
            return StoreFailure(.io, "The simulation says so.")
        }
        faults.unsearchable = { isUnsearchable.value() }
        if chance(60) { faults.crashPoint = Int.random(in: 1...120, using: &generator) }
        if life == 1, let firstCrashPoint { faults.crashPoint = firstCrashPoint }
        // The process dies there, or hangs there and dies a little later.
        let lingers = chance(30)
        let died = Unchecked { [unowned self] in
            trace { "crash point\(lingers ? ", and it lingers" : "")" }
            count("crash points")
            if lingers { later(.milliseconds(20)) { [unowned self] in mustDie = true } } else { mustDie = true }
        }
        faults.died = { died.value() }
        let schedule = Unchecked { [unowned self] (work: @escaping @Sendable () -> Void) in
            let wait = Int64([0, 0, 1, 5, 40, 300].randomElement(using: &generator) ?? 0) * 1_000_000
            storeBusyUntil = max(storeBusyUntil, time.nanoseconds + wait)
            agenda.add(at: storeBusyUntil, work)
        }
        let store = SimulatedStore(MemoryStore(on: disk, faults: faults, schedule: { schedule.value($0) }))
        referee.markRefusedAt = nil
        store.heard = { [unowned self] in referee.storeSaid(isTaken: $0, isMark: $1) }
        return store
    }

    /// Stops the process, which cuts off unfinished work after its time, and starts it again.
    func stop() throws {
        count("stops")
        let (lifeBefore, breachCount) = (life, breaches.count)
        drain()
        try advance(by: .milliseconds(Int.random(in: 0...40, using: &generator) * 250))
        // The process died while it was finishing; the next one was not told to stop.
        guard life == lifeBefore else { return }
        trace { "the time to stop is over" }
        isCuttingOff = true
        for lane in lanes { _ = lane.loop.shutDown() }
        try advance(by: .seconds(2))
        // The process may have died while it was about to stop.
        if life == lifeBefore, breaches.count == breachCount { referee.stopped() }
        (isDraining, isCuttingOff) = (false, false)
        try die()
    }

    /// The process is gone, with all that was in its memory; then there is a new one.
    func die() throws {
        trace { "the process dies" }
        (isDraining, isCuttingOff) = (false, false)
        count("deaths")
        for lane in lanes { lane.worker.die() }
        for client in clients { client.processDied() }
        for request in requests.values { request.download.forgetBreak() }
        clients = []
        probeCount += 1
        bury()
        // Somebody may have written another configuration meanwhile.
        if chance(40) { configuration.routes = randomRoutes() }
        try startLife()
        settle()
        tellLinks()
    }

    /// Lets the dead come to rest, so that nothing of them stays in memory: nobody hears of it.
    func bury() {
        store?.die()
        for lane in lanes { _ = lane.loop.shutDown() }
        for _ in 0..<100 {
            var isQuiet = store?.sayLastWords() != true
            while !jobs.isIdle {
                jobs.runOne()
                isQuiet = false
            }
            while !engineLoop.isIdle {
                engineLoop.runOne()
                isQuiet = false
            }
            for lane in lanes { lane.embedded.run() }
            if isQuiet, jobs.isIdle, engineLoop.isIdle { break }
        }
        for lane in lanes { lane.embedded.shutdownGracefully(queue: Self.queue) { _ in } }
        engineLoop.close()
    }

    /// Rows as they are on the disk.
    var rows: [EntryID: MemoryContent.Row] { disk.content.tickets }
}
