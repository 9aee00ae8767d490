import Foundation

/// Runs the release binary under valgrind's memcheck, which sees each wrong access to memory and what leaks. In a debug build optimized
/// code meets code that is not, and memcheck reports uses of uninitialised values that are none.
///
/// Three things keep valgrind 3.19 from a Swift program, and each is met here:
/// - it gives up at the debug information that Swift writes, so it runs a copy without it; the names of functions stay;
/// - it writes to the mask that sigsuspend(2) is given, and libdispatch's is constant: `sigsuspend.c` lends it a copy;
/// - it must stand in for mimalloc's malloc as for the C library's, which is what `somalloc` says.
package final class Memcheck: Sendable {
    /// Exit status if valgrind has found an error. Layover itself never ends with this status.
    package static let errorStatus: Int32 = 99
    private let folder: TemporaryFolder

    private struct NotBuilt: Error, CustomStringConvertible {
        var path: String
        var description: String { "There is no \(path). Build it first: scripts/build-release.sh." }
    }

    package init() async throws {
        folder = try TemporaryFolder()
        let built = RunningLayover.releaseBinary
        guard FileManager.default.fileExists(atPath: built) else { throw NotBuilt(path: built) }
        try await Command("strip", ["--strip-debug", "-o", binary, built]).succeed()
        try await Command("clang", ["-shared", "-fPIC", "-o", preload, Fixtures.path("memcheck/sigsuspend.c")]).succeed()
    }

    private var binary: String { folder.file("layover").path }
    private var preload: String { folder.file("sigsuspend.so").path }

    /// Errors that valgrind found. The last lines are the summary.
    package var log: String { folder.text(of: "memcheck.log") }

    /// Starts Layover and waits until both ports listen, which takes some twenty times as long as otherwise.
    package func start(_ configuration: String, within limit: Duration) async throws -> RunningLayover {
        let home = try TemporaryFolder()
        try home.write(configuration, to: "config.json")
        return try await RunningLayover.start(
            in: home, binary: binary, under: words, environment: ["LD_PRELOAD": preload], within: limit)
    }

    private var words: [String] {
        [
            "valgrind", "--tool=memcheck", "--error-exitcode=\(Self.errorStatus)", "--log-file=\(folder.file("memcheck.log").path)",
            "--soname-synonyms=somalloc=*mimalloc*", "--suppressions=\(Fixtures.path("memcheck/suppressions"))",
            // libstdc++ allocates by `new`, which memcheck takes over, and frees by a form of `delete` of mimalloc's that
            // it does not know, so each such pair looks mismatched.
            "--show-mismatched-frees=no", "--leak-check=full", "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite",
            // Otherwise one thread may keep the others from running for seconds.
            "--fair-sched=yes", "--num-callers=30",
        ]
    }

    /// The errors, one after the other, as far as a reader wants to see them.
    package var errors: String {
        String(log.split(separator: "\n").filter { !$0.hasSuffix("== ") }.joined(separator: "\n").prefix(12_000))
    }
}
