import Foundation

/// Lines on standard output.
enum StandardOutput {
    static func write(_ lines: [String]) {
        for line in lines { print(line) }
        // Whoever reads a pipe wants each answer when it is there.
        fflush(nil)
    }

    static func write(_ line: String) { write([line]) }
}
