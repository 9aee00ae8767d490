import Glibc

/// Threads for servers in tests: detached, one closure each.
package enum OriginThreads {
    private final class Work {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    package static func start(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(run: run))
        let result = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        precondition(result == 0, "no thread for a test server: errno \(result)")
        pthread_detach(thread)
    }
}
