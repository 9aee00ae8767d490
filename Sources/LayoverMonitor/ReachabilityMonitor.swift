import Glibc
package import LayoverCore
package import Logging
import ServiceLifecycle

/// Watches the network and reports what it learns, until it is told to stop.
///
/// Where the system does not let the monitor watch, the monitor logs this at its start and reports less. Requests still wait for their
/// due time and for evidence from real traffic.
package struct ReachabilityMonitor: Service {
    private let logger: Logger
    private let report: @Sendable (ReachabilityFact) -> Void

    package init(logger: Logger, report: @escaping @Sendable (ReachabilityFact) -> Void) {
        self.logger = logger
        self.report = report
    }

    package func run() async throws {
        do throws(MonitorError) {
            let thread = try MonitorThread(report: report)
            for trouble in thread.troubles { warn(trouble) }
            await withGracefulShutdownHandler {
                await Self.run(thread)
            } onGracefulShutdown: {
                thread.stop()
            }
        } catch {
            warn(error)
        }
        // A service that returns before it is told to stop would take the whole process with it.
        try? await gracefulShutdown()
    }

    private func warn(_ trouble: MonitorError) {
        logger.warning("network monitoring is incomplete", metadata: ["reason": "\(trouble)"])
    }

    /// Gives the monitor a thread of its own, because the threads of Swift's concurrency must not block.
    private static func run(_ monitor: MonitorThread) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Thread.start {
                    monitor.run()
                    continuation.resume()
                }
            }
        } onCancel: {
            monitor.stop()
        }
    }
}

/// Something that the monitor needs from the system and cannot have.
package struct MonitorError: Error, CustomStringConvertible {
    package var context: String
    package var code: Int32

    init(context: String, code: Int32 = errno) {
        self.context = context
        self.code = code
    }

    package var description: String { "\(context) (\(String(cString: strerror(code))))" }
}
