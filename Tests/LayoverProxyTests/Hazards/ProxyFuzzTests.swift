import Foundation
import LayoverCache
import LayoverCore
import LayoverEngine
import LayoverTestSupport
import Logging
import Retry
import Testing

@testable import LayoverProxy

/// The proxy keeps answering for all numbers of clients and origins: a trap would end this process.
///
/// `LAYOVER_FUZZ_SEED` repeats a run; `LAYOVER_FUZZ_ROUNDS` makes it longer.
struct ProxyFuzzTests {
    private static func configuration(_ configuration: inout ProxyConfiguration) {
        var retrying = Policy.standard
        retrying.name = "retrying"
        retrying.retryOn = [.connectivity, .status(429), .status(503)]
        // As far as a configuration goes, so that it is the sums that are tried.
        retrying.retryAfterMax = .seconds(3650 * 24 * 3600)
        retrying.holdMax = .seconds(3650 * 24 * 3600)
        retrying.lifetime = .seconds(3650 * 24 * 3600)
        retrying.repeatable = true
        retrying.lane = .path(3)
        retrying.cache = .staleIfError
        var reading = Policy.standard
        reading.cache = .staleIfError
        var api = Route(name: "api", policy: retrying)
        api.upstream = .init(origin: Origin(scheme: .https, host: "api.test"), basePath: "")
        api.key = "key"
        var open = Route(name: "open", policy: retrying)
        open.upstream = .init(origin: Origin(scheme: .http, host: "open.test"), basePath: "")
        var hosted = Route(name: "hosted", policy: retrying)
        hosted.host = .exact("hosted.test")
        configuration.routes = RouteTable(policies: ["retrying": retrying, reading.name: reading], routes: [api, open, hosted])
    }

    @Test func fuzzedInputDoesNotCrashTheProxy() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["LAYOVER_FUZZ_SEED"].flatMap(UInt64.init) ?? .random(in: 0...(.max))
        let roundCount = environment["LAYOVER_FUZZ_ROUNDS"].flatMap(Int.init) ?? 2_000
        print("proxy fuzz: LAYOVER_FUZZ_SEED=\(seed) LAYOVER_FUZZ_ROUNDS=\(roundCount)")
        let origin = Watched(ProxyFuzzer(seed: seed &+ 1))
        let folder = try TemporaryFolder()
        let cache = try DiskResponseCache(
            options: CacheOptions(path: folder.file("cache.sqlite").path, folder: folder.file("cache").path),
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }), now: 0)
        var hitCount = 0
        try await withProxy(
            script: { attempt in origin.update { $0.answer(attempt) } }, tickets: TestStore(), configuration: Self.configuration
        ) { proxy in
            try await proxy.loop.use(cache).get()
            var fuzzer = ProxyFuzzer(seed: seed)
            var tickets = [
                try await proxy.accept(), try await proxy.accept("/b", "Layover-Policy: retrying"),
                try await proxy.accept("/c", "Layover-Lane: l"),
            ]
            var clients: [RawClient] = []
            for round in 1...roundCount {
                let client = try await proxy.connect()
                client.sendWithoutWaiting(fuzzer.request(tickets: tickets))
                clients.append(client)
                guard round.isMultiple(of: 30) else { continue }
                try await proxy.settle()
                try await proxy.advance(by: fuzzer.step())
                for client in clients {
                    let bytes = client.received.value.bytes
                    var rest = bytes
                    let response = Answer(takingFrom: &rest, toHead: false, isEnded: true)
                    if let id = response?.ticket, tickets.count < 20 { tickets.append(id) }
                    if response?["Cache-Status"]?.contains("; hit") == true { hitCount += 1 }
                    client.close()
                }
                clients = []
                let response = try await proxy.answer(to: "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                #expect(response.status == 200, "seed \(seed), round \(round)")
            }
        }
        let usage = cache.usage
        await cache.close()
        #expect(usage.failure == nil)
        // A cache that keeps and gives nothing looks at no number.
        if roundCount >= 2_000 { #expect(usage.entryCount > 0 && hitCount > 0) }
    }
}
