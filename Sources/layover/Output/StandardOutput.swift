import Foundation

/// Lines on standard output.
enum StandardOutput {
    static func write(_ lines: [String]) {
        for line in lines { print(line) }
        // The reader of a pipe gets each line at once.
        fflush(nil)
    }

    static func write(_ line: String) { write([line]) }
}
