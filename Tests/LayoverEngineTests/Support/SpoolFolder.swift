import Foundation
import LayoverEngine
import NIOPosix

/// A spool in a folder of its own that is gone with it.
final class SpoolFolder: Sendable {
    let path: String
    let threads: NIOThreadPool

    init() throws {
        path = NSTemporaryDirectory() + "layover-spool-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        threads = NIOThreadPool(numberOfThreads: 2)
        threads.start()
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        threads.shutdownGracefully { _ in }
    }

    func spool(byteCountMax: Int = 1 << 30, below: String = "") -> BodySpool {
        BodySpool(folder: path + below, byteCountMax: byteCountMax, threads: threads)
    }

    var files: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }
}
