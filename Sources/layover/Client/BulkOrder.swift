import Foundation
import Glibc
import LayoverAdmin
import Synchronization

/// A command for many requests, given in parts: the admin API takes 1 000 ids at a time, and a person sees how far it is.
struct BulkOrder {
    /// The body of the call.
    struct Call: Encodable {
        struct Filter: Encodable {
            var host: String
        }

        var ids: [String]?
        var filter: Filter?
        var all: Bool?
        var dryRun: Bool?
        var reason: String?
    }

    /// The most ids that the admin API takes at once.
    static let idCountMax = 1000

    let client: AdminClient
    let command: String
    let reason: String?
    var progress = ProgressLine()
    var interruption = Interruption()

    /// Makes one call. A function that only forwarded to `send` made the optimizer of Swift 6.3.1 crash.
    func result(of call: Call) async throws -> BulkDocument {
        let order = try AdminCall("POST", "/v1/pending/\(command)", body: call)
        let response = try await client.send(order)
        return try response.decoded(BulkDocument.self)
    }

    /// Carries it out for these ids, in their order.
    ///
    /// - Throws: `interrupted` after Ctrl-C, with a sentence that says what was done. The call under way is finished first.
    func run(_ ids: [String]) async throws -> BulkDocument {
        var whole: BulkDocument?
        guard ids.count > Self.idCountMax else { return try await part(ids[...]) }
        interruption.begin()
        defer {
            interruption.end()
            progress.clear()
        }
        var next = ids.startIndex
        while next < ids.endIndex {
            if interruption.hasCome { throw interrupted(whole?.done ?? 0, of: ids.count) }
            let end = min(next + Self.idCountMax, ids.endIndex)
            do {
                let part = try await part(ids[next..<end])
                if whole == nil { whole = part } else { whole?.add(part) }
            } catch let failure as CommandFailure {
                throw CommandFailure(
                    code: failure.code, message: "\(failure.message); \(command) was done for \(whole?.done ?? 0) of \(ids.count) before")
            }
            next = end
            progress.update("\(command): done \(next) of \(ids.count)")
        }
        guard let whole else { return try await part([]) }
        return whole
    }

    private func part(_ ids: ArraySlice<String>) async throws -> BulkDocument {
        try await result(of: Call(ids: Array(ids), reason: reason))
    }

    private func interrupted(_ done: Int, of count: Int) -> CommandFailure {
        CommandFailure(
            code: .interrupted,
            message: "interrupted: \(command) was done for \(done) of \(count), the others are unchanged; "
                + "give the command again to go on")
    }
}

extension BulkDocument {
    /// Adds the result of a later part of the same command.
    fileprivate mutating func add(_ part: BulkDocument) {
        matched += part.matched
        done += part.done
        results += part.results
        if let counts = part.willGo { willGo = (willGo ?? [:]).merging(counts, uniquingKeysWith: +) }
    }
}

/// Takes SIGINT (Ctrl-C) while a command is carried out in parts, so that it ends between two of them and can say what was done.
/// The second one ends the process at once.
struct Interruption {
    /// How often it came since `begin`. Of the process, as signals are.
    private static let count = Atomic<Int>(0)

    var hasCome: Bool { Self.count.load(ordering: .relaxed) > 0 }

    func begin() {
        // Also makes the counter exist before the handler uses it, which may run only what signal-safety(7) allows.
        Self.count.store(0, ordering: .relaxed)
        signal(SIGINT) { _ in
            if Interruption.count.add(1, ordering: .relaxed).newValue > 1 { _exit(CommandFailure.Code.interrupted.rawValue) }
        }
    }

    func end() { signal(SIGINT, SIG_DFL) }
}
