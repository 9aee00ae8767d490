import GRDB
import LayoverEngine
import LayoverTestSupport
import NIOCore
import Synchronization
import Testing

@testable import LayoverCache

struct ConcurrencyTests {
    /// In parallel use every response is complete and belongs to its URL, and in the end index, files
    /// and sums agree.
    @Test(arguments: [UInt64(1), 2, 3])
    func parallelUseKeepsTheCacheConsistent(seed: UInt64) async throws {
        print("seed \(seed)")
        let bench = try CacheBench {
            $0.byteCountMax = 60_000
            $0.entryCountMax = 25
            $0.stepCount = 4
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<8 {
                group.addTask { await walk(bench, SeededGenerator(seed: seed &* 100 &+ UInt64(number)), steps: 60) }
            }
        }
        #expect(try await bench.isConsistent())
        #expect(bench.cache.usage.entryCount <= 25)
        #expect(bench.cache.usage.byteCount <= 60_000)
        #expect(bench.warnings == [])
    }

    /// One thread has seen no surplus. Then another thread, which has put a response into the index, counts the response.
    @Test func surplusThatComesWhileAnotherThreadLooksForOneIsRemoved() async throws {
        let bench = try CacheBench { $0.entryCountMax = 3 }
        for number in 0..<3 { await bench.store(.to("/\(number)"), at: newYear + number) }
        let cache = bench.cache
        cache.state.withLock { $0.tally.entryCount -= 1 }
        await bench.store(.to("/3"), at: newYear + 3)
        let isCounted = Watched(false)
        try cache.withDatabase { opened in
            opened.pool.writeWithoutTransaction { database in
                // Called before each statement. The first one comes after the look at the sums.
                database.trace { [weak cache] _ in
                    guard let cache, !isCounted.value else { return }
                    isCounted.update { $0 = true }
                    cache.state.withLock { $0.tally.entryCount += 1 }
                    cache.tidy(now: newYear + 4)
                }
            }
        }
        cache.tidy(now: newYear + 4)
        #expect(isCounted.value)
        #expect(cache.usage.entryCount == 3)
        #expect(try await bench.isConsistent())
    }

    private func walk(_ bench: CacheBench, _ generator: SeededGenerator, steps: Int) async {
        var generator = generator
        for step in 0..<steps {
            let target = "/\(Int.random(in: 0..<40, using: &generator))"
            let count = Int.random(in: 0..<5000, using: &generator)
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<4:
                let writer = bench.begin(.to(target), length: nil, at: newYear + step)
                for _ in 0..<count / 500 { writer?.append(ByteBuffer(string: Self.text(target, 500))) }
                writer?.commit()
            case 4:
                let writer = bench.begin(.to(target), length: nil, at: newYear + step)
                writer?.append(ByteBuffer(string: Self.text(target, 500)))
                if count % 2 == 0 { writer?.abandon() }
            case 5:
                _ = bench.cache.answered(.made(204), to: .to(target, method: "DELETE"), at: .at(newYear + step))
            case 6:
                _ = bench.cache.answered(.made(404), to: .to(target), at: .at(newYear + step))
            case 7 where step % 20 == 0:
                _ = try? await bench.cache.purge(.all)
            default:
                guard let body = await bench.found(.to(target))?.body, let text = await body.text() else { continue }
                #expect(text == Self.text(target, body.byteCount))
            }
        }
    }

    private static func text(_ target: String, _ count: Int) -> String {
        String((0..<count).map { Array(target + "0123456789")[$0 % 500 % (target.count + 10)] })
    }
}
