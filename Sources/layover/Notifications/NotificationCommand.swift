import Foundation
import LayoverConfiguration
import LayoverCore
import NIOCore

/// A program that is run for a notification, with its JSON on standard input.
struct NotificationCommand: Sendable, Equatable {
    /// The program gets SIGTERM after this time, and SIGKILL 5 s later. Default: 30 s.
    private static let timeMax: Duration = .seconds(30)
    private static let killDelay: Duration = .seconds(5)

    let program: String
    /// The arguments, which may be tokens.
    private let arguments: [Secret]

    /// Nil: the setting names no program.
    init?(_ command: [Secret]?) {
        guard let program = command?.first?.revealed else { return nil }
        self.program = program
        arguments = Array((command ?? []).dropFirst())
    }

    /// Runs the program to its end.
    ///
    /// - Returns: What went wrong; nil: the program ended with status 0.
    func run(_ input: ByteBuffer) async -> String? {
        guard let path = ProgramFile.path(of: program) else { return "it is no executable file any more" }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments.map(\.revealed)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardInput = pipe
        return await withCheckedContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: Self.trouble(of: $0)) }
            do {
                try process.run()
            } catch {
                return continuation.resume(returning: "it cannot be started: \(error.localizedDescription)")
            }
            write(input, to: pipe.fileHandleForWriting)
            Self.limit(process)
        }
    }

    /// What went wrong with a process that has ended; nil: its status was 0.
    private static func trouble(of process: Process) -> String? {
        switch process.terminationReason {
        case .exit: process.terminationStatus == 0 ? nil : "its status was \(process.terminationStatus)"
        case .uncaughtSignal: "signal \(process.terminationStatus) ended it"
        }
    }

    private static func limit(_ process: Process) {
        Task {
            try await Task.sleep(for: timeMax)
            guard process.isRunning else { return }
            process.terminate()
            try await Task.sleep(for: killDelay)
            if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        }
    }

    /// A program that does not read must hold up nobody.
    private func write(_ input: ByteBuffer, to file: FileHandle) {
        let bytes = Data(input.readableBytesView)
        DispatchQueue.global().async {
            // The program may have ended without reading.
            try? file.write(contentsOf: bytes)
            try? file.close()
        }
    }
}
