import Glibc

/// A pipe whose ends no program inherits that is started from here.
struct OwnPipe {
    let reading: Int32
    let writing: Int32

    /// - Throws: errno, if there are no descriptors left.
    init() throws(SpawnFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw SpawnFailure(code: errno) }
        for (index, end) in ends.enumerated() {
            // A process may be started without some of its first three descriptors; then these numbers are free, and are to stay so.
            ends[index] = end > STDERR_FILENO ? end : fcntl(end, F_DUPFD, STDERR_FILENO + 1)
            if end <= STDERR_FILENO { close(end) }
            _ = fcntl(ends[index], F_SETFD, FD_CLOEXEC)
        }
        (reading, writing) = (ends[0], ends[1])
    }
}
