import LayoverCore
import LayoverEngine
import LayoverHTTP
import NIOCore

/// The requests of a client about its ticket: its state, its response, or its end.
///
/// Confined to its loop. `@unchecked Sendable`: what is awaited elsewhere comes back there.
final class TicketResource: ConnectionTask, @unchecked Sendable {
    private let loop: ProxyLoop
    private weak var connection: ClientConnection?
    private var client: ClientFacts
    /// What stands before a path of the proxy, for this client.
    private let ownBase: String
    private let question: TicketQuestion
    private(set) var isReceivingRequest: Bool
    private var isDone = false
    private var watch: Int?
    private var timeout: Scheduled<Void>?
    private var sending: StoredBodySending?

    init(connection: ClientConnection, loop: ProxyLoop, head: RequestHead, question: TicketQuestion) {
        self.connection = connection
        self.loop = loop
        self.question = question
        client = ClientFacts(head)
        isReceivingRequest = head.framing.hasBody
        ownBase = connection.ownBase(for: head)
    }

    func begin() {
        switch question.ask {
        case .state(let wait): wait == .zero ? look(isLast: true) : waitUp(for: wait)
        case .response: fetchResponse()
        case .drop: drop()
        }
    }

    // MARK: How it stands

    private func waitUp(for wait: Duration) {
        timeout = loop.eventLoop.scheduleTask(in: TimeAmount(wait)) { [weak self] in
            self?.timeout = nil
            self?.look(isLast: true)
        }
        Task { [self, id = question.id] in
            let number = await loop.engine.watchTicket(id) { [weak self, loop] in
                loop.eventLoop.execute { [weak self] in self?.look(isLast: false) }
            }
            loop.eventLoop.execute { self.watches(number) }
        }
    }

    private func watches(_ number: Int) {
        watch = number
        if isDone { return stopWatching() }
        // The ticket may have come to its end before.
        look(isLast: false)
    }

    private func stopWatching() {
        timeout?.cancel()
        timeout = nil
        guard let watch else { return }
        self.watch = nil
        Task { [loop, id = question.id] in await loop.engine.unwatchTicket(id, watch) }
    }

    private func look(isLast: Bool) {
        guard !isDone else { return }
        Task { [self] in
            let result = await TicketLook(engine: loop.engine, id: question.id).look()
            loop.eventLoop.execute { self.looked(result, isLast: isLast) }
        }
    }

    private func looked(_ result: TicketLook.Result, isLast: Bool) {
        guard !isDone else { return }
        switch result {
        case .unknown: answer(OwnResponse(Self.unknown, of: loop))
        case .failed(let failure): answer(OwnResponse(Problem(reading: failure), of: loop))
        case .found(let view, let response, let isSaved):
            let state = view.record.state
            guard isLast || state == .undecided || state.isFinal && isSaved else { return }
            let document = TicketDocument(id: question.id, view: view, response: response) { [loop] in
                loop.wall($0)
            }
            self.answer(
                OwnResponse(
                    status: 200, fields: [("Content-Type", "application/json")] + retryAfter(view),
                    body: document.json))
        }
    }

    private func retryAfter(_ view: TicketView) -> [(name: String, value: String)] {
        guard !view.record.state.isFinal else { return [] }
        return [("Retry-After", String(loop.secondsUntil(view.nextAttemptAt)))]
    }

    private static let unknown = Problem(
        status: 404, kind: "unknown_ticket", detail: "No ticket has this id.", error: .httpRequestError)

    // MARK: Its response

    private func fetchResponse() {
        Task { [self] in
            let result = await TicketLook(engine: loop.engine, id: question.id).look()
            loop.eventLoop.execute { self.send(result) }
        }
    }

    private func send(_ result: TicketLook.Result) {
        guard !isDone, let connection else { return }
        guard case .found(let view, let stored, let isSaved) = result else { return looked(result, isLast: true) }
        guard let stored, !stored.isBodyLost else {
            return answer(
                OwnResponse(
                    Problem(
                        noResponseOf: view, isSaved: isSaved, isBodyLost: stored != nil,
                        seconds: loop.secondsUntil(view.nextAttemptAt)),
                    of: loop))
        }
        isDone = true
        client.addresses = RouteAddresses(of: view.record, loop.configuration.routes, ownBase: ownBase)
        connection.responds(stored.status, from: .layover)
        sending = StoredBodySending(
            stored, loop: loop, connection: connection, client: client, keepsAlive: !isReceivingRequest)
        sending?.begin()
    }

    // MARK: The end of it

    private func drop() {
        Task { [self] in
            var problem: Problem?
            do throws(StoreFailure) {
                switch try await loop.engine.dropTicket(question.id) {
                case .dropped: break
                case .unknown: problem = Self.unknown
                case .unsaved(let failure): problem = Problem(notSaved: failure)
                }
            } catch {
                problem = Problem(reading: error)
            }
            // The response has the identity of the configuration, which only the loop may read.
            loop.eventLoop.execute { [problem] in
                self.answer(problem.map { OwnResponse($0, of: self.loop) } ?? OwnResponse(status: 204))
            }
        }
    }

    private func answer(_ response: OwnResponse) {
        guard !isDone else { return }
        isDone = true
        stopWatching()
        connection?.answer(response, to: client, isComplete: !isReceivingRequest)
    }

    // MARK: The client

    func receivedBody(_ bytes: ByteBuffer) -> Bool { true }
    func finishedRequest(trailers: FieldBlock?) { isReceivingRequest = false }
    func clientTookBytes() { sending?.goOn() }

    func requestBroke(status: Int, detail: String) {
        answer(OwnResponse(Problem(status: status, kind: "malformed", detail: detail, error: .httpRequestError), of: loop))
    }

    func requestBodyStalled() { requestBroke(status: 408, detail: "The request body stopped arriving.") }

    /// The client wants one response, and no wait.
    func clientClosedInput() { stopWaiting() }

    /// The proxy is being stopped: clients do not wait here any longer.
    func drain() { stopWaiting() }

    private func stopWaiting() {
        if timeout != nil { look(isLast: true) }
    }

    func clientLeft() {
        isDone = true
        stopWatching()
        sending?.stop()
        sending = nil
    }

    func abandonIfFresh() {}
}

/// A client's question about a ticket.
struct TicketQuestion {
    enum Ask: Equatable {
        /// The state of the ticket, now or once it is final or undecided, but after so long at most.
        case state(wait: Duration)
        case response
        case drop
    }

    /// Longest wait. Default: 10 minutes.
    static let waitMax: Duration = .seconds(600)

    var id: EntryID
    var ask: Ask
}

/// Where the client of a ticket finds it.
enum TicketAddress {
    static let prefix = "/.layover/tickets/"

    /// The ticket and the part of it that a path names.
    static func parse(_ path: Substring) -> (id: EntryID, wantsResponse: Bool)? {
        guard path.hasPrefix(prefix) else { return nil }
        let parts = path.dropFirst(prefix.count).split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, let id = EntryID(first) else { return nil }
        switch parts.count {
        case 1: return (id, false)
        case 2 where parts[1] == "response": return (id, true)
        default: return nil
        }
    }

    static func path(of id: EntryID) -> String { prefix + id.description }
}
