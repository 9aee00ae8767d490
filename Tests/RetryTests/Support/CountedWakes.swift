import LayoverTestSupport

/// Wake-ups whose sender can wait until they were taken.
final class CountedWakes: AsyncSequence, Sendable {
    struct AsyncIterator: AsyncIteratorProtocol {
        let wakes: CountedWakes
        var base: AsyncStream<Int>.Iterator

        mutating func next() async -> Int? {
            wakes.asked.update { $0 += 1 }
            let element = await base.next()
            if element == nil { wakes.ended.update { $0 += 1 } }
            return element
        }
    }

    let asked = Watched(0)
    /// How often a reader was told that there is no more: because of the end, or because it was cancelled.
    let ended = Watched(0)
    private let stream: AsyncStream<Int>
    private let continuation: AsyncStream<Int>.Continuation

    init() { (stream, continuation) = AsyncStream.makeStream() }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(wakes: self, base: stream.makeAsyncIterator())
    }

    /// Sends and returns; the reader takes it when it can.
    func send() { continuation.yield(1) }

    func finish() { continuation.finish() }

    /// Returns when the reader has dealt with it and asks for the next one.
    func sendAndWait() async throws {
        try await asked.wait("the reader asks") { $0 > 0 }
        let before = asked.value
        send()
        try await asked.wait("the reader asks again") { $0 > before }
    }
}
