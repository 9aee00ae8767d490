import CCurl
import Glibc

/// A detached thread that runs one closure and is gone.
enum LookupThread {
    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// - Returns: errno when no thread can be made; nothing runs then.
    static func start(_ run: @escaping @Sendable () -> Void) -> Int32? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(run: run))
        let result = pthread_create(&thread, &attributes, main, work.toOpaque())
        guard result != 0 else { return nil }
        work.release()
        return result
    }

    private static let main: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        context in
        guard let context else { return nil }
        layover_name_thread("layover-name")
        Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run()
        return nil
    }
}
