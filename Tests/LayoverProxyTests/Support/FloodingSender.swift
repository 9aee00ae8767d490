import LayoverTestSupport

/// One end of a tunnel that sends more than the buffers of its way hold.
struct FloodingSender {
    static let mebibyteCount = 32

    private let sent: Watched<Int>
    private let sending: Task<Void, any Error>

    init(_ end: RawClient) {
        let sent = Watched(0)
        self.sent = sent
        sending = Task {
            for _ in 0..<Self.mebibyteCount {
                try await end.send([UInt8](repeating: 120, count: 1 << 20))
                sent.update { $0 += 1 }
            }
        }
    }

    /// Waits until nothing more is taken, although both sides were asked again and again.
    ///
    /// - Returns: MiB that were taken.
    func countAtRest(_ proxy: TestProxy) async throws -> Int {
        var (before, quietCount) = (-1, 0)
        while quietCount < 500 {
            try await proxy.settle()
            quietCount = sent.value == before ? quietCount + 1 : 0
            before = sent.value
        }
        return before
    }

    func finish() async throws { try await sending.value }
}
