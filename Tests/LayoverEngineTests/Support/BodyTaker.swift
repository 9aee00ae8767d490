import LayoverEngine
import LayoverHTTP
import LayoverTestSupport
import Synchronization

/// Reads a body to its end on whatever thread wakes it, as a worker does.
final class BodyTaker: Sendable {
    struct Taken: Sendable {
        var bytes: [UInt8] = []
        var end: CapturedBody.ReadResult?
        var trailers: RequestFields?
        var isStopped = false
    }

    let taken = Watched(Taken())
    private let reader = Mutex<CapturedBody.Reader?>(nil)
    private let wakeCount = Mutex(0)
    private let stopsAfter: Mutex<Int>

    /// - Parameter stopsAfter: Bytes after which it takes no more until `goOn`.
    init(_ body: CapturedBody, stopsAfter: Int = .max) {
        self.stopsAfter = Mutex(stopsAfter)
        let made = body.makeReader { [weak self] in self?.pump() }
        reader.withLock { $0 = made }
        pump()
    }

    func goOn() {
        stopsAfter.withLock { $0 = .max }
        pump()
    }

    func close() { reader.withLock { $0 }?.close() }

    /// One thread at a time reads; whoever comes meanwhile makes it look once more.
    private func pump() {
        let isAlone = wakeCount.withLock { count in
            count += 1
            return count == 1
        }
        guard isAlone else { return }
        while true {
            let seen = wakeCount.withLock { $0 }
            readOn(limit: stopsAfter.withLock { $0 })
            let isDone = wakeCount.withLock { count in
                guard count == seen else { return false }
                count = 0
                return true
            }
            if isDone { return }
        }
    }

    private func readOn(limit: Int) {
        guard let reader = reader.withLock({ $0 }) else { return }
        var memory = [UInt8](repeating: 0, count: 10_000)
        while taken.value.end == nil {
            let left = limit - taken.value.bytes.count
            guard left > 0 else { return taken.update { $0.isStopped = true } }
            let result = memory.withUnsafeMutableBytes {
                reader.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[..<min(left, $0.count)]))
            }
            switch result {
            case .bytes(let count):
                let bytes = memory[..<count]
                taken.update { $0.bytes += bytes }
            case .wait:
                return
            case .end, .brokenOff:
                let trailers = reader.trailers
                taken.update {
                    $0.end = result
                    $0.trailers = trailers
                }
            }
        }
    }

    func whole() async throws -> Taken {
        try await taken.take("the end of the body") { $0.end == nil ? nil : $0 }
    }
}
