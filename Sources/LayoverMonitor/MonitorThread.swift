import CLinux
import Glibc
package import LayoverCore

/// The one thread that waits for the kernel to say something about the network.
///
/// `@unchecked Sendable`: everything but the descriptor that ends the thread is touched by it alone, once
/// it runs.
package final class MonitorThread: @unchecked Sendable {
    private let stopper: CInt
    private let report: @Sendable (ReachabilityFact) -> Void
    private var links: LinkWatch?
    private var resolver: ResolverFileWatch?
    private var resume: ResumeWatch?
    private var lastSnapshot: LinkSnapshot?
    /// What the system does not let us watch. The rest is watched all the same.
    package private(set) var troubles: [MonitorError] = []

    /// How long to wait before the kernel is asked again that did not answer: 1 s.
    private static let blindWaitMilliseconds: CInt = 1000

    /// Opens everything.
    ///
    /// - Throws: Where not even the descriptor can be had that ends the thread.
    package init(
        resolverPath: String = "/etc/resolv.conf", report: @escaping @Sendable (ReachabilityFact) -> Void
    ) throws(MonitorError) {
        self.report = report
        stopper = eventfd(0, CInt(EFD_CLOEXEC))
        guard stopper >= 0 else { throw MonitorError(context: "Cannot create an eventfd.") }
        links = open { () throws(MonitorError) in LinkWatch(events: try .forEvents()) }
        resolver = open { () throws(MonitorError) in try ResolverFileWatch(path: resolverPath) }
        resume = open { () throws(MonitorError) in try ResumeWatch() }
    }

    deinit {
        close(stopper)
        resolver?.close()
        resume?.close()
    }

    private func open<Watch>(_ make: () throws(MonitorError) -> Watch) -> Watch? {
        do throws(MonitorError) {
            return try make()
        } catch {
            troubles.append(error)
            return nil
        }
    }

    /// Ends `run`. From any thread.
    package func stop() { eventfd_write(stopper, 1) }

    /// Reports facts until it is told to stop. Blocks its thread.
    package func run() {
        readLinks()
        // poll(2) passes over negative descriptors.
        let all = [stopper, links?.descriptor ?? -1, resolver?.descriptor ?? -1, resume?.descriptor ?? -1]
        var descriptors = all.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while true {
            let isBlind = links?.isBlind ?? false
            let count = poll(
                &descriptors, nfds_t(descriptors.count), isBlind ? Self.blindWaitMilliseconds : -1)
            guard count >= 0 || errno == EINTR else { return }
            guard count >= 0 else { continue }
            if descriptors[0].revents != 0 { return }
            if descriptors[1].revents != 0 || isBlind { readLinks() }
            if descriptors[2].revents != 0, resolver?.hasChanged() == true { report(.resolverChanged) }
            if descriptors[3].revents != 0, resume?.hasResumed() == true { report(.resumed) }
        }
    }

    private func readLinks() {
        guard let snapshot = links?.read(), snapshot != lastSnapshot else { return }
        lastSnapshot = snapshot
        report(.links(snapshot))
    }
}

/// A thread of the system's.
enum Thread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs the closure on a new detached thread; at once, on this one, where none can be made.
    static func start(_ run: @escaping @Sendable () -> Void) {
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        if code == 0 {
            pthread_detach(thread)
        } else {
            body.takeRetainedValue().run()
        }
    }
}
