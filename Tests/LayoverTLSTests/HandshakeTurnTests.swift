import LayoverTLS
import NIOCore
import NIOEmbedded
import Testing

/// Many handshakes at once, in portions.
struct HandshakeTurnTests {
    private final class Scene {
        let loop = EmbeddedEventLoop()
        var time = NIODeadline.uptimeNanoseconds(1)
        private(set) lazy var turns = TLSHandshakeTurns(eventLoop: loop) { [unowned self] in self.time }
        var done: [Int] = []

        /// A part of a handshake that takes a millisecond.
        func take(_ number: Int) {
            turns.take {
                self.time = self.time + .milliseconds(1)
                self.done.append(number)
            }
        }
    }

    @Test func loneHandshakeIsDoneAtOnce() {
        let scene = Scene()
        scene.take(1)
        #expect(scene.done == [1])
    }

    @Test func manyAreDoneInPortionsAndInOrder() {
        let scene = Scene()
        for number in 0..<1500 { scene.take(number) }
        #expect(scene.done.count == 5, "5 ms at once")
        for portion in 2...300 {
            scene.loop.advanceTime(by: .milliseconds(1))
            #expect(scene.done.count == 5 * portion)
        }
        #expect(scene.done == Array(0..<1500))
    }

    @Test func portionIsFullAgainAfterAPause() {
        let scene = Scene()
        for number in 0..<4 { scene.take(number) }
        scene.loop.advanceTime(by: .milliseconds(1))
        for number in 4..<9 { scene.take(number) }
        #expect(scene.done.count == 9)
    }

    @Test func workFromWithinWaitsInLine() {
        let scene = Scene()
        scene.turns.take { scene.take(2); scene.done.append(1) }
        #expect(scene.done == [1, 2])
    }
}
