#if canImport(Glibc)
import Glibc
#endif

/// The resource usage of the process.
struct ProcessUsage: Sendable {
    /// User and system time.
    var cpuSeconds: Double
    var residentByteCount: Int?
    var openDescriptorCount: Int?
    var descriptorCountMax: Int?

    static func current() -> ProcessUsage {
        ProcessUsage(
            cpuSeconds: cpuSeconds(), residentByteCount: residentByteCount(),
            openDescriptorCount: openDescriptorCount(), descriptorCountMax: descriptorCountMax())
    }

    private static func cpuSeconds() -> Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return seconds(usage.ru_utime) + seconds(usage.ru_stime)
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1_000_000
    }

    /// The second number of proc_pid_statm(5), in pages.
    private static func residentByteCount() -> Int? {
        guard let file = fopen("/proc/self/statm", "re") else { return nil }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        guard fgets(&line, Int32(line.count), file) != nil else { return nil }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = text.split(separator: " ")
        guard fields.count > 1, let pages = Int(fields[1]) else { return nil }
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// Entries of proc_pid_fd(5), without `.`, `..` and the descriptor that reads them.
    private static func openDescriptorCount() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        return max(0, count - 3)
    }

    private static func descriptorCountMax() -> Int? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        return Int(exactly: limit.rlim_cur)
    }
}
