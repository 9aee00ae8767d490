import Foundation
import Glibc
import LayoverTestSupport

/// A download by a client of its own that notes when each part of it began to come.
struct TimedDownload {
    /// Bytes that the origin sends at a time (`/parts/N` of the origin).
    static let partByteCount = 64 << 10

    /// The whole body.
    var body = Data()
    /// Seconds of CLOCK_MONOTONIC at which the first byte of each part came.
    var partsBeganAt: [Double] = []

    /// Runs it to its end. Blocks, for a thread of its own.
    init(_ url: String, through layover: RunningLayover, within limit: Duration) throws {
        let connection = try RawConnection(port: layover.proxyPort, namespace: layover.namespace)
        try connection.send("GET \(url) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let deadline = Deadline(in: limit)
        var all = Data()
        var headByteCount: Int?
        while let bytes = try connection.receive(by: deadline) {
            let now = Self.monotonicSeconds
            all.append(bytes)
            headByteCount = headByteCount ?? all.firstRange(of: Data("\r\n\r\n".utf8))?.upperBound
            guard let headByteCount else { continue }
            while all.count - headByteCount > partsBeganAt.count * Self.partByteCount { partsBeganAt.append(now) }
        }
        body = headByteCount.map { Data(all[$0...]) } ?? Data()
    }

    static var monotonicSeconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
