import Foundation
import HTTPTypes
import Hummingbird
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Testing

@testable import LayoverAdmin

struct EventStreamTests {
    private let harness = AdminHarness()

    /// One event as it stands on the stream.
    struct Received {
        var id: String?
        var name: String?
        var data: [String: Any]

        init(_ text: String) {
            var lines: [Substring: Substring] = [:]
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                if parts.count == 2 { lines[parts[0]] = parts[1].drop { $0 == " " } }
            }
            id = lines["id"].map(String.init)
            name = lines["event"].map(String.init)
            data =
                (try? JSONSerialization.jsonObject(with: Data((lines["data"] ?? "").utf8))) as? [String: Any]
                ?? [:]
        }
    }

    /// Reads blocks of a stream as it is written, and stops it at the end.
    private func follow(
        _ harness: AdminHarness, after id: String? = nil,
        _ test: (inout Blocks) async throws -> Void
    ) async throws {
        let response = try await harness.respond(
            "GET", "/v1/events", fields: id.map { ["Last-Event-ID": $0] } ?? [:])
        #expect(response.headers[.contentType] == "text/event-stream")
        let (stream, continuation) = AsyncStream<String>.makeStream()
        let writing = Task { try await response.body.write(CollectingWriter(watcher: continuation)) }
        defer { writing.cancel() }
        var blocks = Blocks(iterator: stream.makeAsyncIterator())
        try await test(&blocks)
    }

    /// Blocks between empty lines, whatever the pieces in which they came.
    struct Blocks {
        var iterator: AsyncStream<String>.Iterator
        private var rest = ""

        init(iterator: AsyncStream<String>.Iterator) { self.iterator = iterator }

        mutating func next() async -> String? {
            while true {
                if let end = rest.firstRange(of: "\n\n") {
                    let block = String(rest[..<end.lowerBound])
                    rest = String(rest[end.upperBound...])
                    return block
                }
                guard let piece = await iterator.next(isolation: #isolation) else { return nil }
                rest += piece
            }
        }

        /// The next event; comments are passed over.
        mutating func nextEvent() async throws -> Received {
            while let block = await next() {
                if !block.hasPrefix(":") { return Received(block) }
            }
            throw EndOfStream()
        }
    }

    struct EndOfStream: Error {}

    @Test func snapshotComesFirstAndThenWhatHappens() async throws {
        harness.park(1)
        try await follow(harness) { blocks in
            let snapshot = try await blocks.nextEvent()
            #expect(snapshot.name == "snapshot")
            #expect(
                Set(snapshot.data.keys) == ["lost", "data", "counts", "nextCursor", "incidents", "reachability", "rehearsals"])
            #expect(snapshot.data["lost"] as? Bool == false)
            #expect((snapshot.data["data"] as? [[String: Any]])?.count == 1)
            #expect((snapshot.data["counts"] as? [String: Int])?["waiting"] == 1)
            #expect((snapshot.data["reachability"] as? [String: Any])?["mode"] as? String == "auto")

            let incidents = snapshot.data["incidents"] as? [[String: Any]] ?? []
            #expect(incidents.map { $0["origin"] as? String } == ["http://shop.example"])

            harness.park(2)
            let parked = try await blocks.nextEvent()
            #expect(parked.name == "request.parked")
            #expect(parked.data["id"] as? String == AdminHarness.id(2).description)

            #expect(try await harness.post("/v1/pending/\(AdminHarness.id(2))/cancel").status == 200)
            let ended = try await blocks.nextEvent()
            #expect(ended.name == "request.ended")
            #expect(ended.data["state"] as? String == "cancelled")

            _ = await harness.engine.setMode(.offline, reason: "test")
            let changed = try await blocks.nextEvent()
            #expect(changed.name == "reachability.changed")
            #expect(changed.data["mode"] as? String == "offline")
        }
    }

    @Test func eventsShowTheProgressOfABrokenResponse() async throws {
        try await follow(harness) { blocks in
            _ = try await blocks.nextEvent()
            let id = harness.park(1, failure: .terminated, resume: ResumeProgress(done: 5, total: 10, times: 0)).id
            let parked = try await blocks.nextEvent()
            #expect(parked.name == "request.parked")
            #expect(parked.data["resume"] as? [String: Int] == ["done": 5, "total": 10, "times": 0])
            harness.engine.post(
                .ended(
                    ExchangeEnded(
                        id, as: .delivered, AttemptTally(AttemptCounts(), resume: ResumeProgress(done: 10, total: 10, times: 1)))))
            while true {
                let event = try await blocks.nextEvent()
                guard event.name == "request.ended" else { continue }
                #expect(event.data["resume"] as? [String: Int] == ["done": 10, "total": 10, "times": 1])
                break
            }
        }
    }

    @Test func incidentOpensChangesAndCloses() async throws {
        let clock = ManualClock()
        let harness = AdminHarness(clock: clock)
        try await follow(harness) { blocks in
            let snapshot = try await blocks.nextEvent()
            #expect((snapshot.data["incidents"] as? [Any])?.isEmpty == true)

            harness.park(1, policy: AdminHarness.patient)
            #expect(try await blocks.nextEvent().name == "request.parked")
            let opened = try await blocks.nextEvent()
            #expect(opened.name == "incident.opened")
            #expect(opened.data["waiting"] as? Int == 1)
            #expect(
                (opened.data["cause"] as? [String: String]) == [
                    "kind": "connection_refused", "phase": "connecting",
                ])

            harness.park(2, policy: AdminHarness.patient)
            #expect(try await blocks.nextEvent().name == "request.parked")
            clock.advance(by: .milliseconds(250))
            await harness.engine.timerFired()
            let updated = try await blocks.nextEvent()
            #expect(updated.name == "incident.updated")
            #expect(updated.data["id"] as? String == opened.data["id"] as? String)
            #expect(updated.data["waiting"] as? Int == 2)

            let id = try #require(opened.data["id"] as? String)
            #expect(try await harness.post("/v1/incidents/\(id)/cancel").status == 200)
            // The outage is over with its last entry, which is told of in the same breath.
            var names: [String] = []
            for _ in 1...3 { names.append(try await blocks.nextEvent().name ?? "") }
            #expect(names.sorted() == ["incident.closed", "request.ended", "request.ended"])
        }
    }

    @Test func reloadIsAnEvent() async throws {
        try await follow(harness) { blocks in
            _ = try await blocks.nextEvent()
            await harness.engine.reloaded(
                ReloadReport(at: Timestamp(nanoseconds: 0), appliedKeys: ["log.level"]))
            let reloaded = try await blocks.nextEvent()
            #expect(reloaded.name == "config.reloaded")
            #expect(Set(reloaded.data.keys) == ["at", "applied", "needsRestart", "errors"])
            #expect(reloaded.data["applied"] as? [String] == ["log.level"])
        }
    }

    @Test func lastEventIDBringsOnlyWhatWasMissed() async throws {
        harness.park(1)
        var seen: String?
        try await follow(harness) { seen = try await $0.nextEvent().id }
        harness.park(2)
        try await follow(harness, after: seen) { blocks in
            let missed = try await blocks.nextEvent()
            #expect(missed.name == "request.parked")
            #expect(missed.data["id"] as? String == AdminHarness.id(2).description)
            harness.park(3)
            #expect(try await blocks.nextEvent().data["id"] as? String == AdminHarness.id(3).description)
        }
    }

    @Test(arguments: ["otherrun-0", "0", "", "x-y-z"])
    func idOfAnotherRunBringsASnapshot(id: String) async throws {
        harness.park(1)
        try await follow(harness, after: id) { blocks in
            let first = try await blocks.nextEvent()
            #expect(first.name == "snapshot")
        }
    }

    @Test func silenceIsFilledWithComments() async throws {
        let harness = AdminHarness(options: .with { $0.heartbeat = .milliseconds(1) })
        try await follow(harness) { blocks in
            _ = try await blocks.nextEvent()
            #expect(await blocks.next() == ": alive")
            #expect(await blocks.next() == ": alive")
            harness.park(1)
            #expect(try await blocks.nextEvent().name == "request.parked")
        }
    }

    @Test func largeSnapshotIsOneEvent() async throws {
        for number in 1...600 { harness.park(UInt64(number)) }
        try await follow(harness) { blocks in
            let snapshot = try await blocks.nextEvent()
            #expect((snapshot.data["data"] as? [Any])?.count == 600)
        }
    }

    @Test func streamEndsWithTheEngine() async throws {
        try await follow(harness) { blocks in
            _ = try await blocks.nextEvent()
            await harness.engine.finishWatching()
            #expect(await blocks.next() == nil)
        }
    }

    /// Takes one piece of a stream each time that it is told to.
    private final class SlowWriter: ResponseBodyWriter, Sendable {
        struct Written: Sendable {
            var pieces: [String] = []
            var isFinished = false
        }

        private let turns: AsyncStream<Void>
        private let turn: AsyncStream<Void>.Continuation
        let written = Watched(Written())

        init() { (turns, turn) = AsyncStream.makeStream(of: Void.self) }

        /// Takes everything from now on.
        func hurry() { turn.finish() }

        func write(_ buffer: ByteBuffer) async throws {
            written.update { $0.pieces.append(String(buffer: buffer)) }
            for await _ in turns { break }
        }

        func finish(_ trailingHeaders: HTTPFields?) async throws { written.update { $0.isFinished = true } }
    }

    @Test func slowReaderGetsASnapshotMarkedAsLost() async throws {
        let response = try await harness.respond("GET", "/v1/events")
        let writer = SlowWriter()
        let writing = Task { try await response.body.write(writer) }
        defer {
            writing.cancel()
            writer.hurry()
        }
        try await writer.written.wait("the beginning of the stream") { !$0.pieces.isEmpty }
        // The reader has taken the beginning of its first snapshot, and takes nothing during the events below.
        let report = ReloadReport(
            at: Timestamp(nanoseconds: 0), errors: [String(repeating: "x", count: 100_000)])
        for _ in 0..<100 { await harness.engine.reloaded(report) }
        harness.park(1)
        writer.hurry()
        try await writer.written.wait("a snapshot that says that events were lost") { written in
            let start = written.pieces.firstIndex { $0.hasSuffix("{\"lost\":true,\"data\":[") }
            return start.map { written.pieces[$0...].contains { $0.hasSuffix("}\n\n") } } ?? false
        }
        let text = writer.written.value.pieces.joined()
        let blocks = text.split(separator: "\n\n").map { Received(String($0)) }.filter { $0.name != nil }
        #expect(blocks.first?.data["lost"] as? Bool == false)
        let again = try #require(blocks.dropFirst().first)
        #expect(again.name == "snapshot")
        #expect(again.data["lost"] as? Bool == true)
        #expect((again.data["data"] as? [[String: Any]])?.count == 1)
        await harness.engine.finishWatching()
        try await writer.written.wait("the end of the stream", until: { $0.isFinished })
    }
}
