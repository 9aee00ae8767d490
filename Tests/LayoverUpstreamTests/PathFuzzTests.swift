import Foundation
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverUpstream

/// Requests of all kinds at once, to an origin of all moods, some of them cancelled: what is said of each attempt must agree with
/// what the origin received, and no byte may be another request's.
///
/// `LAYOVER_FUZZ_SEED` repeats what each request and its origin do; `LAYOVER_FUZZ_ROUNDS` makes it longer.
@Suite(.serialized, .bothPaths)
struct PathFuzzTests {
    /// The behaviour of the origin at one request.
    enum Mood: UInt64, CaseIterable {
        case answers, answersInChunks, answersSlowly, answersBeforeTheBody, saysSomethingFirst, answersAndCloses, answersTooMuch
        case breaksTheAnswerOff, closes, resets, closesAfterTheHead
    }

    /// All that is known of one request before it is made.
    struct Plan: Sendable {
        let number: Int
        let method: String
        let byteCount: Int?
        let responseByteCount: Int
        let isCancelled: Bool
        let isFresh: Bool

        init(_ number: Int, seed: UInt64) {
            var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 7919)
            self.number = number
            method = ["GET", "GET", "GET", "PUT", "POST", "POST", "DELETE"].randomElement(using: &generator) ?? "GET"
            let sizes = [0, 1, 100, 5_000, 70_000, 300_000]
            byteCount = method == "PUT" || method == "POST" ? sizes.randomElement(using: &generator) : nil
            responseByteCount = [0, 1, 91, 5_000, 200_000].randomElement(using: &generator) ?? 0
            isCancelled = Int.random(in: 0..<8, using: &generator) == 0
            isFresh = Int.random(in: 0..<10, using: &generator) == 0
        }

        var mayBeSentTwice: Bool { method != "POST" }
        var isSlow: Bool { byteCount ?? 0 > 5_000 }
        var body: [UInt8] { Self.bytes(number, count: byteCount ?? 0) }

        /// Bytes that only this request, or its response, has.
        static func bytes(_ number: Int, count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: (number &* 31 &+ $0) ^ ($0 >> 8)) }
        }

        func mood(seed: UInt64) -> Mood {
            var generator = SeededGenerator(seed: seed ^ UInt64(number) &* 104_729)
            return Int.random(in: 0..<3, using: &generator) > 0 ? .answers : Mood.allCases.randomElement(using: &generator) ?? .answers
        }
    }

    /// Record of the origin.
    private struct Seen: Sendable {
        var counts: [Int: Int] = [:]
        var wrong: [String] = []
    }

    @Test func evidenceAndBytesAgreeWithTheOrigin() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["LAYOVER_FUZZ_SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max))
        let count = environment["LAYOVER_FUZZ_ROUNDS"].flatMap(Int.init) ?? 600
        print("path fuzz (\(Path.current)): LAYOVER_FUZZ_SEED=\(seed) LAYOVER_FUZZ_ROUNDS=\(count)")
        let seen = Mutex(Seen())
        let origin = try MisbehavingOrigin { connection in
            while let (head, number) = Self.readHead(connection) {
                seen.withLock { $0.counts[number, default: 0] += 1 }
                let plan = Plan(number, seed: seed)
                guard
                    Self.play(
                        plan, plan.mood(seed: seed), on: connection, head: head,
                        seen: { text in
                            seen.withLock { $0.wrong.append(text) }
                        })
                else { return }
            }
        }
        let rig = try UpstreamRig()
        var outcomes: [Int: AttemptRecord.Facts] = [:]
        for wave in stride(from: 0, to: count, by: 24) {
            let plans = (wave..<min(wave + 24, count)).map { Plan($0, seed: seed) }
            let records = plans.map { plan in (plan, Self.start(plan, port: origin.port, on: rig)) }
            for (plan, record) in records { outcomes[plan.number] = await record.ended() }
        }
        try await rig.stop()
        var (answeredCount, sentCount) = (0, 0)
        let final = seen.withLock { $0 }
        #expect(final.wrong == [], "seed \(seed)")
        for number in 0..<count {
            let (plan, facts) = (Plan(number, seed: seed), try #require(outcomes[number]))
            let received = final.counts[number] ?? 0
            let what = "seed \(seed), request \(number) (\(plan.method), \(plan.mood(seed: seed))): \(facts.events)"
            #expect(facts.terminalCount == 1 && !facts.isTimedOut, "\(what)")
            if facts.failure?.evidence == .neverSent {
                #expect(received == 0, "\(what): never sent, but received")
            } else {
                sentCount += 1
            }
            if !plan.mayBeSentTwice || Path.current == .direct { #expect(received <= 1, "\(what): received \(received) times") }
            guard facts.events.last == "end" else { continue }
            answeredCount += 1
            #expect(facts.head.contains("X-Request: \(number)\r\n"), "\(what): another's response")
            #expect(facts.body == Plan.bytes(number, count: plan.responseByteCount), "\(what): other bytes")
        }
        #expect(answeredCount * 3 > count && sentCount < count, "a fuzzer whose requests all fail, or none, tests nothing")
    }

    private static func start(_ plan: Plan, port: Int, on rig: UpstreamRig) -> AttemptRecord {
        let body = plan.byteCount.map { rig.emptyBody(length: $0, mayBeSentTwice: plan.mayBeSentTwice) }
        let request = rig.request(
            plan.method, port: port, target: "/\(plan.number)", framing: plan.byteCount.map { .length($0) } ?? .none, body: body,
            mayBeSentTwice: plan.mayBeSentTwice)
        let record = rig.start(request, needsFreshConnection: plan.isFresh)
        // In pieces, so that the body comes while it is sent.
        var rest = plan.body[...]
        while !rest.isEmpty {
            let piece = rest.prefix(plan.isSlow ? 30_000 : 5_000)
            _ = body?.append(ByteBuffer(bytes: piece))
            rest = rest.dropFirst(piece.count)
        }
        body?.finish()
        if plan.isCancelled { record.cancel() }
        return record
    }

    // MARK: The origin

    private static func readHead(_ connection: OriginConnection) -> (head: String, number: Int)? {
        guard let head = connection.readHead() else { return nil }
        let target = head.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
        return Int(target.dropFirst()).map { (head, $0) }
    }

    /// - Returns: True if another request may follow on the connection.
    private static func play(
        _ plan: Plan, _ mood: Mood, on connection: OriginConnection, head: String, seen: (String) -> Void
    ) -> Bool {
        let response = Plan.bytes(plan.number, count: plan.responseByteCount)
        let line = "HTTP/1.1 200 OK\r\nX-Request: \(plan.number)\r\n"
        let plain = Array("\(line)Content-Length: \(response.count)\r\n\r\n".utf8) + response
        if mood == .closesAfterTheHead { return false }
        if mood == .answersBeforeTheBody { connection.write(plain) }
        if let count = plan.byteCount, count > 0 {
            guard let body = connection.read(count) else { return false }
            if body != plan.body { seen("request \(plan.number): its body arrived changed") }
        }
        switch mood {
        case .answers: connection.write(plain)
        case .answersBeforeTheBody: break
        case .answersSlowly:
            for start in stride(from: 0, to: plain.count, by: max(1, plain.count / 7)) {
                connection.write(Array(plain[start..<min(plain.count, start + max(1, plain.count / 7))]))
            }
        case .saysSomethingFirst: connection.write(Array("HTTP/1.1 103 Early Hints\r\nX-Request: 0\r\n\r\n".utf8) + plain)
        case .answersInChunks:
            connection.write("\(line)Transfer-Encoding: chunked\r\n\r\n")
            for start in stride(from: 0, to: response.count, by: 7_000) {
                let chunk = response[start..<min(response.count, start + 7_000)]
                connection.write(Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Array("\r\n".utf8))
            }
            connection.write("0\r\nX-Trailer: \(plan.number)\r\n\r\n")
        case .answersAndCloses:
            connection.write(plain)
            return false
        case .answersTooMuch: connection.write(plain + Array("HTTP/1.1 200 OK\r\nX-Request: 0\r\nContent-Length: 6\r\n\r\npoison".utf8))
        case .breaksTheAnswerOff:
            connection.write(Array(plain.dropLast(plain.count > 60 ? 1 : 0)))
            return false
        case .closes, .closesAfterTheHead: return false
        case .resets:
            connection.reset()
            return false
        }
        return true
    }
}
