import Foundation
import LayoverTestSupport
import NIOCore
import NIOPosix
import Testing

@testable import LayoverTLS

/// Which certificates are kept, for how long, and how they are made anew.
struct LeafCacheTests {
    private let gate = DispatchSemaphore(value: 0)
    private static let day = 24 * 60 * 60
    private let rig: LeafRig

    init() throws { rig = try LeafRig() }

    @Test func nameThatWasUsedLeastRecentlyMakesRoom() async throws {
        var contexts: [TLSServerContext] = []
        for number in 0..<LeafCertificates.nameCountMax { contexts.append(try await rig.context("host-\(number).example")) }
        #expect(try await rig.context("host-0.example") === contexts[0], "it is used again")
        _ = try await rig.context("one-more.example")
        #expect(try await rig.context("host-0.example") === contexts[0])
        #expect(try await rig.context("host-2.example") === contexts[2])
        #expect(try await rig.context("host-1.example") !== contexts[1])
    }

    @Test func certificateIsMadeAnewWhenAThirdOfItsLifeIsLeft() async throws {
        let first = try await rig.context("shop.example")
        rig.clock.update { $0 += 60 * Self.day - 3601 }
        #expect(try await rig.context("shop.example") === first)
        rig.clock.update { $0 += 2 }
        let second = try await rig.context("shop.example")
        #expect(second !== first && second.notAfter > first.notAfter)
        #expect(try await rig.context("shop.example") === second)
    }

    /// Forwards as after a long sleep, backwards as when a wrong clock is corrected. Each is valid in its own time.
    @Test(arguments: [100, 365, -1, -365]) func certificateIsMadeAnewWhenTheClockJumps(days: Int) async throws {
        let first = try await rig.context("shop.example")
        rig.clock.update { $0 += days * Self.day }
        let second = try await rig.leaf("shop.example")
        #expect(second.notBefore == rig.clock.value - 3600)
        #expect(second.notBefore != first.chain.first?.notBefore)
    }

    @Test func smallStepBackwardsOfTheClockChangesNothing() async throws {
        let first = try await rig.context("shop.example")
        rig.clock.update { $0 -= 3599 }
        #expect(try await rig.context("shop.example") === first)
    }

    @Test func otherAuthoritySignsAnew() async throws {
        let first = try await rig.context("shop.example")
        let other = try CertificateAuthority.make(now: rig.clock.value)
        rig.leaves.use(other)
        let second = try await rig.context("shop.example")
        #expect(second.chain[0].isSigned(by: other.certificate) && !first.chain[0].isSigned(by: other.certificate))
        #expect(first.identity != second.identity, "no session of the old one is resumed")
    }

    // MARK: The thread that signs

    /// The loop waits for nothing while certificates are made, here for as long as the test likes.
    @Test func loopIsFreeWhileAThousandNamesWait() async throws {
        let (leaves, loop) = (rig.leaves, rig.loop)
        rig.threads.submit { _ in gate.wait() }
        let waiting = try await loop.submit {
            (0..<1000).map { leaves.context(for: "host-\($0).example", on: loop) }
        }.get()
        let done = Watched(0)
        for context in waiting { context.whenComplete { _ in done.update { $0 += 1 } } }
        // The loop keeps working, and has made no certificate itself.
        #expect(try await loop.submit { done.value }.get() == 0)
        gate.signal()
        let contexts = try await EventLoopFuture.whenAllSucceed(waiting, on: loop).get()
        #expect(contexts.count == 1000)
    }

    @Test func clientsThatAskForOneNameTogetherShareOneSignature() async throws {
        rig.threads.submit { _ in gate.wait() }
        let waiting = ["shop.example", "SHOP.example", "shop.example."].map { rig.leaves.context(for: $0, on: rig.loop) }
        gate.signal()
        let contexts = try await EventLoopFuture.whenAllSucceed(waiting, on: rig.loop).get()
        // A second one would have taken the first one's place by now.
        try await rig.threads.runIfActive(eventLoop: rig.loop) {}.get()
        let last = try await rig.context("shop.example")
        #expect(contexts.allSatisfy { $0 === last })
    }

    @Test func moreNamesThanMayWaitAreRefused() async throws {
        rig.threads.submit { _ in gate.wait() }
        let waiting = (0..<LeafCertificates.pendingNameCountMax).map { rig.leaves.context(for: "host-\($0).example", on: rig.loop) }
        #expect(await rig.failure("one-more.example") == .tooMany)
        let joined = rig.leaves.context(for: "host-0.example", on: rig.loop)
        gate.signal()
        _ = try await EventLoopFuture.whenAllSucceed(waiting + [joined], on: rig.loop).get()
        #expect(await rig.failure("one-more.example") == nil)
    }

    @Test func otherAuthorityMeanwhileLeavesNoCertificateOfTheOldOne() async throws {
        rig.threads.submit { _ in gate.wait() }
        let waiting = rig.leaves.context(for: "shop.example", on: rig.loop)
        let other = try CertificateAuthority.make(now: rig.clock.value)
        rig.leaves.use(other)
        let later = rig.leaves.context(for: "shop.example", on: rig.loop)
        gate.signal()
        #expect(try await rig.leaf("shop.example").isSigned(by: other.certificate))
        let kept = try await rig.leaves.context(for: "shop.example", on: rig.loop).get()
        #expect(try await waiting.get() === kept)
        #expect(try await later.get() === kept)
    }
}
