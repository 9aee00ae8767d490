import Foundation
import LayoverEngine
import NIOCore
import Testing

@testable import LayoverCache

struct LimitTests {
    private let body = String(repeating: "x", count: 1000)

    @Test func leastRecentlyUsedResponseIsRemovedAtTheByteLimit() async throws {
        let bench = try CacheBench { $0.byteCountMax = 3500 }
        await bench.store(.to("/1"), body: body, at: newYear + 1)
        await bench.store(.to("/2"), body: body, at: newYear + 2)
        await bench.store(.to("/3"), body: body, at: newYear + 3)
        #expect(await bench.body(.to("/1"), at: newYear + 4) == body)
        await bench.store(.to("/4"), body: body, at: newYear + 5)
        #expect(await bench.miss(.to("/2")) == .absent)
        for target in ["/1", "/3", "/4"] { #expect(await bench.body(.to(target)) == body) }
        #expect(bench.files.count == 3)
        #expect(bench.cache.usage.byteCount <= 3500)
        #expect(try await bench.isConsistent())
    }

    @Test func entriesHaveALimit() async throws {
        let bench = try CacheBench {
            $0.entryCountMax = 10
            $0.stepCount = 3
        }
        for number in 0..<30 { await bench.store(.to("/\(number)"), at: newYear + number) }
        #expect(bench.cache.usage.entryCount == 10)
        #expect(await bench.body(.to("/20"), at: newYear + 40) == "hello")
        #expect(await bench.miss(.to("/19"), at: newYear + 40) == .absent)
        #expect(try await bench.isConsistent())
    }

    @Test func tooOldResponseIsRemoved() async throws {
        let bench = try CacheBench {
            $0.ageMax = 100
            $0.stepCount = 2
        }
        for number in 0..<7 { await bench.store(.to("/\(number)")) }
        await bench.store(.to("/new"), at: newYear + 101)
        #expect(bench.cache.usage.entryCount == 1)
        #expect(bench.files.count == 1)
    }

    @Test func responsesOverTheLimitsAreRemovedAtTheStart() async throws {
        let first = try CacheBench()
        await first.store(.to("/old"))
        for number in 0..<5 { await first.store(.to("/\(number)"), at: newYear + 50) }
        await first.cache.close()
        let second = try CacheBench(in: first.folder, at: newYear + 101) {
            $0.ageMax = 100
            $0.entryCountMax = 3
        }
        await second.cache.threads.waitUntilIdle()
        #expect(second.cache.usage.entryCount == 3)
        #expect(await second.miss(.to("/old"), at: newYear + 60) == .absent)
        #expect(try await second.isConsistent())
    }

    @Test func tooLongResponseIsNotKept() async throws {
        let bench = try CacheBench { $0.responseByteCountMax = 10 }
        #expect(bench.begin(length: 11) == nil)
        let endless = bench.begin(length: nil)
        for _ in 0..<3 {
            endless?.append(ByteBuffer(string: "four"))
            await bench.cache.threads.waitUntilIdle()
        }
        endless?.commit()
        await bench.store(.to("/ten"), body: "0123456789")
        #expect(await bench.miss() == .absent)
        #expect(await bench.body(.to("/ten")) == "0123456789")
        #expect(try await bench.isConsistent())
    }

    @Test func slowDiskIsNotWaitedFor() async throws {
        let bench = try CacheBench { $0.unwrittenByteCountMax = 10 }
        let writer = bench.begin(length: nil)
        writer?.append(ByteBuffer(string: "0123456789a"))
        writer?.commit()
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.miss() == .absent)
        #expect(try await bench.isConsistent())
    }

    @Test func bodiesOnTheirWayHaveALimitTogether() async throws {
        let bench = try CacheBench { $0.arrivingByteCountMax = 10 }
        let (one, two) = (bench.begin(.to("/1"), length: nil), bench.begin(.to("/2"), length: nil))
        one?.append(ByteBuffer(string: "01234567"))
        two?.append(ByteBuffer(string: "0123"))
        one?.commit()
        two?.commit()
        await bench.cache.threads.waitUntilIdle()
        #expect(await bench.body(.to("/1")) == "01234567")
        #expect(await bench.miss(.to("/2")) == .absent)
        await bench.store(.to("/2"), body: "0123456789")
        #expect(await bench.body(.to("/2")) == "0123456789")
        #expect(try await bench.isConsistent())
    }

    @Test func responseBeingReadStaysReadable() async throws {
        let bench = try CacheBench()
        await bench.store(body: body)
        let read = try #require(await bench.found()?.body)
        #expect(try await bench.cache.purge(.all) == 1)
        #expect(bench.files.isEmpty)
        #expect(await read.text() == body)
    }
}
