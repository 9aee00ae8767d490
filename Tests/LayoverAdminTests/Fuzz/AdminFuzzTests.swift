import Foundation
import HTTPTypes
import Hummingbird
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverAdmin

/// No request to the admin port ends the process or gets a 500, and every error is a problem.
///
/// The real router over a real engine. `LAYOVER_FUZZ_SEED` repeats a run; `LAYOVER_FUZZ_ROUNDS` makes it longer.
struct AdminFuzzTests {
    @Test func noValueFromOutsideEndsTheProcess() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["LAYOVER_FUZZ_SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max))
        let roundCount = environment["LAYOVER_FUZZ_ROUNDS"].flatMap(Int.init) ?? 3_000
        print("admin fuzz: LAYOVER_FUZZ_SEED=\(seed) LAYOVER_FUZZ_ROUNDS=\(roundCount)")
        var options = AdminOptions()
        options.heartbeat = .milliseconds(1)
        options.bodyToken = "secret"
        let harness = AdminHarness(
            options: options, store: MemoryStore(on: MemoryDisk()), sources: Self.addSources
        )
        var mutator = AdminRequestMutator(seed: seed, routes: Self.routes(of: harness))
        var doneCount = 0
        var (resumedCount, lostCount) = (0, 0)
        for round in 0..<roundCount {
            if round.isMultiple(of: 100) { mutator.ids += try await Self.populate(harness, round) }
            let made = mutator.next()
            let response = try await Self.send(made, to: harness)
            if response.status < 400 { doneCount += 1 }
            if let cursor = response.json["nextCursor"] as? String { mutator.cursors = mutator.cursors.suffix(20) + [cursor] }
            if response["Content-Type"] == "text/event-stream" {
                // A stream may be long; its beginning says what it is.
                let beginning = response.text.prefix(100)
                mutator.eventIDs = mutator.eventIDs.suffix(20) + Self.eventIDs(in: beginning)
                if beginning.hasPrefix(": resumed") { resumedCount += 1 }
                if beginning.contains("{\"lost\":true,") { lostCount += 1 }
            }
            if let flaw = Self.flaw(of: response) {
                Issue.record("seed \(seed), round \(round): \(flaw)\n\(made)\n\(response.text.prefix(500))")
                return
            }
        }
        // A fuzzer that is only refused tests nothing.
        #expect(doneCount * 5 > roundCount)
        // Numbers of events were looked at: those that are known, and those that never were.
        if roundCount >= 3_000 { #expect(resumedCount > 0 && lostCount > 0) }
    }

    private static func addSources(_ sources: inout AdminSources) {
        sources.cache = { MemoryCache((1...5).map { MemoryCache.facts(Int64($0)) }) }
        sources.drain = {}
        sources.reload = { ReloadReport(at: Timestamp(nanoseconds: 5_000_000_000)) }
        sources.configuration = { [ConfigurationValue(key: "log.level", value: "\"info\"", source: "default")] }
    }

    private static func routes(of harness: AdminHarness) -> [(method: String, path: String)] {
        AdminRoutes(options: AdminOptions(), sources: harness.sources).router().routes.map { route in
            let segments = route.path.description.split(separator: "/").map { $0.hasPrefix("{") || $0.hasPrefix(":") ? "{id}" : $0 }
            return (route.method.rawValue, "/" + segments.joined(separator: "/"))
        }
    }

    /// Entries of every kind: those that wait, are undecided, have ended, and tickets.
    private static func populate(_ harness: AdminHarness, _ round: Int) async throws -> [String] {
        let first = UInt64(round) + 1
        let ids = [
            harness.park(first, policy: AdminHarness.patient).id, harness.park(first + 1, method: "PUT").id,
            harness.parkUndecided(first + 2).id, harness.park(first + 3, failure: nil).id,
            try await harness.accept(first + 4, lane: "one"), try await harness.accept(first + 5, lane: "one"),
        ]
        _ = try await harness.post("/v1/pending/\(ids[1])/cancel")
        let incidents = try await harness.send("GET", "/v1/incidents").ids
        return ids.map(\.description) + incidents
    }

    /// A stream is read until it says that it is alive.
    private static func send(_ made: AdminRequestMutator.Made, to harness: AdminHarness) async throws -> Answer {
        let response = try await harness.respond(made.method, made.path, fields: made.fields, body: made.body)
        let writer = EndingWriter()
        do { try await response.body.write(writer) } catch is EndingWriter.Enough {}
        return Answer(status: response.status.code, fields: response.headers, text: writer.text)
    }

    private static func eventIDs(in stream: Substring) -> [String] {
        stream.split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
    }

    private static func flaw(of response: Answer) -> String? {
        if response.status == 500 { return "an internal error" }
        if response["Cache-Control"] != "no-store" || response["X-Content-Type-Options"] != "nosniff" { return "unsafe fields" }
        guard response.status >= 400 else { return nil }
        guard response["Content-Type"] == "application/problem+json", response.json["status"] as? Int == response.status,
            (response.json["type"] as? String)?.hasPrefix("urn:layover:problem:") == true
        else { return "an error that is no problem" }
        return nil
    }
}

/// Has enough of a stream once its heart has beaten.
private final class EndingWriter: ResponseBodyWriter, Sendable {
    struct Enough: Error {}

    private let collected = CollectingWriter()

    var text: String { collected.text }

    func write(_ buffer: ByteBuffer) async throws {
        try await collected.write(buffer)
        if String(buffer: buffer) == ": alive\n\n" { throw Enough() }
    }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}
