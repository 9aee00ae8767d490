package import NIOCore
import Synchronization

extension CapturedBody {
    /// Reads all of a complete body.
    ///
    /// - Parameter byteCountMax: Nothing is read of a longer one.
    /// - Returns: Nil when it is longer, or cannot be read whole.
    package func collect(upTo byteCountMax: Int) async -> ByteBuffer? {
        guard receivedByteCount <= byteCountMax else { return nil }
        return await withCheckedContinuation { continuation in
            let collector = BodyCollector(byteCount: receivedByteCount) { continuation.resume(returning: $0) }
            collector.begin(makeReader { collector.goOn() })
        }
    }
}

/// Reads a body portion by portion, on one thread at a time: each wake goes on where the previous one stopped.
private final class BodyCollector: Sendable {
    private struct State {
        var reader: CapturedBody.Reader?
        var bytes: ByteBuffer
        var isDone = false
    }

    private let state: Mutex<State>
    private let done: @Sendable (ByteBuffer?) -> Void

    init(byteCount: Int, done: @escaping @Sendable (ByteBuffer?) -> Void) {
        state = Mutex(State(bytes: ByteBufferAllocator().buffer(capacity: max(1, byteCount))))
        self.done = done
    }

    func begin(_ reader: CapturedBody.Reader) {
        state.withLock { $0.reader = reader }
        goOn()
    }

    /// The lock is not held while reading: a read may wake from within.
    func goOn() {
        guard let reader = state.withLock({ $0.isDone ? nil : $0.reader }) else { return }
        while true {
            var chunk = ByteBuffer()
            var result = CapturedBody.ReadResult.wait
            chunk.writeWithUnsafeMutableBytes(minimumWritableBytes: 64 << 10) { target in
                result = reader.read(into: target)
                if case .bytes(let count) = result { return count }
                return 0
            }
            switch result {
            case .bytes: state.withLock { _ = $0.bytes.writeImmutableBuffer(chunk) }
            case .wait: return
            case .end, .brokenOff: return finish(reader, isWhole: result == .end)
            }
        }
    }

    private func finish(_ reader: CapturedBody.Reader, isWhole: Bool) {
        let bytes: ByteBuffer? = state.withLock { state in
            guard !state.isDone else { return nil }
            state.isDone = true
            // The body knows us by its wake, and the reader knows the body: each would keep the other for ever, and with
            // it the descriptor of its file and its share of the spool.
            state.reader = nil
            return state.bytes
        }
        guard let bytes else { return }
        reader.close()
        done(isWhole ? bytes : nil)
    }
}
